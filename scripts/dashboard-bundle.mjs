// Bundles src/dashboard/ for browsers: one page, its script and style sheet, and a file for each part that is loaded later; and the
// page of the preview.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { compressedVariants } from './compressed-variants.mjs';
import { root } from './project.mjs';

/**
 * The files as `{path, contents}`, like esbuild's output files, with compressed variants of each.
 * @param previewScript the script of the preview, which is part of the widget
 */
export async function bundleDashboard(esbuild, folder, previewScript) {
	const { outputFiles, metafile } = await esbuild.build({
		absWorkingDir: root,
		entryPoints: ['./src/dashboard/main.tsx', './src/dashboard/dashboard.css'],
		outdir: folder,
		entryNames: '[name]-[hash]',
		chunkNames: '[name]-[hash]',
		assetNames: '[name]-[hash]',
		// The sample documents: their import is the name of the file.
		loader: { '.pdf': 'file', '.docx': 'file', '.html': 'file', '.md': 'file', '.txt': 'file' },
		bundle: true,
		splitting: true,
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
	});
	const pathOf = (entry) => Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === entry)[0];
	const script = pathOf('src/dashboard/main.tsx');
	const page = pageWith(
		basename(script),
		basename(pathOf('src/dashboard/dashboard.css')),
		[...staticImports(metafile, script)].map((path) => basename(path)),
	);
	const files = [
		...outputFiles.map(({ path, contents }) => [basename(path), contents]),
		['index.html', Buffer.from(page)],
		...(await previewFiles(esbuild, previewScript)),
	];
	const variants = files.flatMap(([name, contents]) =>
		compressedVariants(contents).map(([suffix, bytes]) => ({ path: join(folder, name + suffix), contents: bytes })),
	);
	return { files: variants, inputs: Object.keys(metafile.inputs) };
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
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="robots" content="noindex">
<title>Parley</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="dashboard/${styleSheet}">
<script type="module" src="dashboard/${script}"></script>
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
