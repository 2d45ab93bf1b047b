// Bundles src/dashboard/ for browsers: one page, its script and style sheet, and a file for each part that is loaded later; and the
// page of the preview.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { compressedVariants } from './compressed-variants.mjs';
import { root } from './project.mjs';

/** The small script that the page names: it preloads what the first page needs. */
const ENTRY = 'src/dashboard/main.ts';
/** What the entry imports: the frame of all pages. */
const FRAME = 'src/dashboard/app/frame.tsx';
const STYLES = 'src/dashboard/dashboard.css';

/**
 * The files as `{path, contents}`, like esbuild's output files, with compressed variants of each.
 * @param previewScript the script of the preview, which is part of the widget
 */
export async function bundleDashboard(esbuild, folder, previewScript) {
	const options = { ...FOR_BROWSERS, outdir: folder };
	const frame = await esbuild.build({
		...options,
		entryPoints: [`./${FRAME}`, `./${STYLES}`],
		// The sample documents: their import is the name of the file.
		loader: { '.pdf': 'file', '.docx': 'file', '.html': 'file', '.md': 'file', '.txt': 'file' },
		plugins: [oneFileForTheFrame],
		splitting: true,
	});
	const nameOf = (entry) => basename(outputOf(frame.metafile, entry));
	const entry = await esbuild.build({
		...options,
		entryPoints: [`./${ENTRY}`],
		define: { MODULES: JSON.stringify(preloadsOf(frame.metafile)) },
		plugins: [importOf(FRAME, nameOf(FRAME))],
	});
	const page = pageWith(
		basename(outputOf(entry.metafile, ENTRY)),
		nameOf(STYLES),
		namesWithImports(frame.metafile, outputOf(frame.metafile, FRAME)),
	);
	const files = [
		...[...frame.outputFiles, ...entry.outputFiles].map(({ path, contents }) => [basename(path), contents]),
		['index.html', Buffer.from(page)],
		...(await previewFiles(esbuild, previewScript)),
	];
	const variants = files.flatMap(([name, contents]) =>
		compressedVariants(contents).map(([suffix, bytes]) => ({ path: join(folder, name + suffix), contents: bytes })),
	);
	const inputs = [frame, entry].flatMap(({ metafile }) => Object.keys(metafile.inputs));
	return { files: variants, inputs: [...new Set(inputs)] };
}

const FOR_BROWSERS = {
	absWorkingDir: root,
	entryNames: '[name]-[hash]',
	chunkNames: '[name]-[hash]',
	assetNames: '[name]-[hash]',
	bundle: true,
	minify: true,
	metafile: true,
	format: 'esm',
	platform: 'browser',
	target: ['es2022', 'safari16.4'],
	charset: 'utf8',
	legalComments: 'none',
	tsconfig: './src/dashboard/tsconfig.json',
	write: false,
	logLevel: 'warning',
};

/** The import of a source file is one of the file that was made of it, beside the importing one. */
function importOf(source, name) {
	return {
		name: 'import-of-a-built-file',
		setup(build) {
			build.onResolve({ filter: new RegExp(`/${basename(source).replace('.', '\\.')}$`) }, ({ path, resolveDir }) =>
				join(resolveDir, path) === join(root, source) ? { path: `./${name}`, external: true } : undefined,
			);
		},
	};
}

/**
 * esbuild makes a file of the modules that the same entry points import. Each page imports some modules of the frame, so the frame
 * would be a dozen files, each with a request of its own. With this import each page imports all of them, and they are one file.
 */
const oneFileForTheFrame = {
	name: 'one-file-for-the-frame',
	setup(build) {
		build.onLoad({ filter: /[\\/]src[\\/]dashboard[\\/](pages[\\/][^\\/]+|palette)[\\/]index\.tsx$/ }, ({ path }) => ({
			contents: `${readFileSync(path, 'utf8')}\nimport ${JSON.stringify(join(root, FRAME))};\n`,
			loader: 'tsx',
		}));
	},
};

/** What the entry preloads: the files of each language and of each page, without those of the frame. */
function preloadsOf(metafile) {
	const frame = namesWithImports(metafile, outputOf(metafile, FRAME));
	const filesOf = (pattern) =>
		Object.fromEntries(
			Object.entries(metafile.outputs).flatMap(([path, { entryPoint = '' }]) => {
				const name = pattern.exec(entryPoint)?.[1];
				return name ? [[name, namesWithImports(metafile, path).filter((file) => !frame.includes(file))]] : [];
			}),
		);
	return {
		languages: filesOf(/^src\/dashboard\/languages\/([^/]+)\/index\.ts$/),
		pages: filesOf(/^src\/dashboard\/pages\/([^/]+)\/index\.tsx$/),
	};
}

/** The path of the output of an entry point or a dynamic import. */
function outputOf({ outputs }, entry) {
	return Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === entry)[0];
}

/** The names of a script and of all that it imports at once. */
function namesWithImports(metafile, path) {
	return [path, ...staticImports(metafile, path)].map((file) => basename(file));
}

/** The files that a script imports at once, and those that they import. */
function staticImports({ outputs }, path, found = new Set()) {
	for (const { path: imported, kind } of outputs[path].imports) {
		if (kind !== 'import-statement' || found.has(imported)) continue;
		found.add(imported);
		staticImports({ outputs }, imported, found);
	}
	return found;
}

/**
 * The page is at `/dashboard`, its files below that. Its links are relative: a proxy may serve it below another path.
 * @param modules what the script imports: without these links the browser would ask for them one round trip later
 */
function pageWith(script, styleSheet, modules) {
	const preloads = modules.map((name) => `<link rel="modulepreload" href="dashboard/${name}">`).join('\n');
	// The script is first: it gets the connection that is open already. It does not wait for the style sheet: it asks for more.
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="robots" content="noindex">
<title>Parley</title>
<link rel="icon" href="data:,">
<script type="module" async src="dashboard/${script}"></script>
<link rel="stylesheet" href="dashboard/${styleSheet}">
${preloads}
</head>
<body>
<div class="shell">
<div class="rail"></div>
<main>
<noscript><p>The dashboard needs JavaScript. Allow it for this page, or use the <a href="api/docs">API</a>.</p></noscript>
<div class="loading-lines" aria-busy="true"><div class="loading-line"></div><div class="loading-line"></div><div class="loading-line"></div><div class="loading-line"></div></div>
</main>
</div>
</body>
</html>
`;
}

/** The page of the preview at `/dashboard/preview`, with its script and style sheet beside it. */
async function previewFiles(esbuild, script) {
	const css = readFileSync(join(root, 'src/widget/preview/preview.css'), 'utf8');
	const { code } = await esbuild.transform(css, { loader: 'css', minify: true });
	const styleSheet = Buffer.from(code);
	const hash = (contents) => createHash('sha256').update(contents).digest('hex').slice(0, 10);
	const [scriptName, styleName] = [`preview-${hash(script)}.js`, `preview-${hash(styleSheet)}.css`];
	const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Preview – Parley</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${styleName}">
<script type="module" src="${scriptName}"></script>
</head>
<body>
<main aria-hidden="true"><div></div><div></div><div></div><div></div><div></div></main>
</body>
</html>
`;
	return [
		[scriptName, script],
		[styleName, styleSheet],
		['preview.html', Buffer.from(page)],
	];
}
