// Bundles src/widget/ for browsers: the script for the tag, the module, the chat, its bar for people, a file for each language, and the dashboard's preview.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { compressedVariants } from './compressed-variants.mjs';
import { filesBelow, root } from './project.mjs';

/** The widget needs constructed style sheets, which are newer than the rest of this target. */
const TARGET = ['es2022', 'safari16.4'];

/**
 * Properties that the bundles shorten: those whose name ends with `_`. Such a name is private to one built file. Not names that
 * browsers, the server, storage or pages read, nor names that the button, the chat and its languages share: a browser may hold
 * files of two versions.
 */
const MANGLED_PROPERTIES = /_$/;

/**
 * The files as `{path, contents}`, like esbuild's output files, with compressed variants of each, and the script of the dashboard's
 * preview, which loads the same chat.
 */
export async function bundleWidget(esbuild, folder) {
	const parts = new Map([
		['chat', await bundle(esbuild, folder, 'chat/index.tsx')],
		['transcript', await bundle(esbuild, folder, 'chat/save-transcript.ts')],
		['person', await bundle(esbuild, folder, 'person/index.tsx')],
	]);
	for (const path of filesBelow('src/widget/languages', (file) => /\/[a-z]{2}\.ts$/.test(file))) {
		const language = basename(path, '.ts');
		parts.set(language, await bundle(esbuild, folder, `languages/${language}.ts`));
	}
	// The names contain a hash of all files, so browsers may cache them forever.
	const version = createHash('sha256')
		.update(Buffer.concat([...parts.values()]))
		.digest('hex')
		.slice(0, 10);
	const define = { VERSION: JSON.stringify(version) };
	// A classic script has no `import.meta.url`. It gets the address of its tag as an option.
	const classic = { format: 'iife', define: { ...define, 'import.meta.url': '""' } };
	const files = new Map([
		...[...parts].map(([name, contents]) => [`${name}-${version}.js`, contents]),
		['widget.js', await bundle(esbuild, folder, 'script.ts', classic)],
		['widget.mjs', ignoreImportsInBundlers(await bundle(esbuild, folder, 'module.ts', { define }))],
		['widget.d.mts', readFileSync(join(root, 'src/widget/public.d.ts'))],
	]);
	const preview = await bundle(esbuild, folder, 'preview/index.ts', { define });
	const variants = [...files].flatMap(([name, contents]) =>
		compressedVariants(contents).map(([suffix, bytes]) => ({ path: join(folder, name + suffix), contents: bytes })),
	);
	return { files: variants, preview };
}

/** Functions first in their scope: equal declarations compress better. */
const COMPRESSION = { ecma: 2022, passes: 3, hoist_funs: true, unsafe_arrows: true };

/** Bundles one entry point, with the project's options. Terser makes the result about 3 % smaller than esbuild alone. */
async function bundle(esbuild, folder, entry, options) {
	const result = await esbuild.build({
		absWorkingDir: root,
		entryPoints: [`./src/widget/${entry}`],
		outdir: folder,
		bundle: true,
		minify: true,
		format: 'esm',
		platform: 'browser',
		target: TARGET,
		charset: 'utf8',
		legalComments: 'none',
		tsconfig: './src/widget/tsconfig.json',
		mangleProps: MANGLED_PROPERTIES,
		plugins: [styleSheets(esbuild)],
		write: false,
		logLevel: 'warning',
		...options,
	});
	// Loaded here because the file is also imported before the dependencies are installed.
	const { minify } = await import('terser');
	const { code } = await minify(result.outputFiles[0].text, {
		compress: COMPRESSION,
		format: { ecma: 2022 },
		module: options?.format !== 'iife',
	});
	return Buffer.from(code);
}

/** Imports style sheets as minified text. */
function styleSheets(esbuild) {
	return {
		name: 'style-sheets',
		setup(build) {
			build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
				const { code } = await esbuild.transform(readFileSync(path, 'utf8'), {
					loader: 'css',
					minify: true,
					target: TARGET,
				});
				return { contents: code.trim(), loader: 'text' };
			});
		},
	};
}

/** Tells bundlers of websites not to resolve dynamic imports. Added here because minifying removes comments. */
function ignoreImportsInBundlers(contents) {
	return Buffer.from(contents.toString().replaceAll('import(', 'import(/* webpackIgnore: true */ /* @vite-ignore */'));
}
