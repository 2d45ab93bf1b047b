// Bundles src/dashboard/ for browsers: one page, its script and style sheet, and a file for each part that is loaded later.
import { basename, join } from 'node:path';
import { compressedVariants } from './compressed-variants.mjs';
import { root } from './project.mjs';

/** The files as `{path, contents}`, like esbuild's output files, with compressed variants of each. */
export async function bundleDashboard(esbuild, folder) {
	const { outputFiles, metafile } = await esbuild.build({
		absWorkingDir: root,
		entryPoints: ['./src/dashboard/main.tsx', './src/dashboard/dashboard.css'],
		outdir: folder,
		entryNames: '[name]-[hash]',
		chunkNames: '[name]-[hash]',
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
	const nameOf = (entry) =>
		basename(Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === entry)[0]);
	const page = pageWith(nameOf('src/dashboard/main.tsx'), nameOf('src/dashboard/dashboard.css'));
	const files = [
		...outputFiles.map(({ path, contents }) => [basename(path), contents]),
		['index.html', Buffer.from(page)],
	];
	const variants = files.flatMap(([name, contents]) =>
		compressedVariants(contents).map(([suffix, bytes]) => ({ path: join(folder, name + suffix), contents: bytes })),
	);
	return { files: variants, inputs: Object.keys(metafile.inputs) };
}

/** The page is at `/dashboard`, its files below that. Its links are relative: a proxy may serve it below another path. */
function pageWith(script, styleSheet) {
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
</head>
<body>
<noscript>The dashboard needs JavaScript.</noscript>
</body>
</html>
`;
}
