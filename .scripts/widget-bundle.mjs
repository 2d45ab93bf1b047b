// Bundles src/widget/ for browsers: the script of the tag, the same as a module, the chat, and a file for each language.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { filesBelow, root } from './project.mjs';

/** What the widget needs of browsers is newer than this: style sheets that are made by scripts. */
const TARGET = ['es2022', 'safari16.4'];

/** The files, as esbuild hands over its own: {path, contents}. Each comes with its compressed variants. */
export async function bundleWidget(esbuild, folder) {
	/** Style sheets become text, minified. */
	const styleSheets = {
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
	const bundle = async (entry, options) => {
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
			plugins: [styleSheets],
			write: false,
			logLevel: 'warning',
			...options,
		});
		return Buffer.from(result.outputFiles[0].contents);
	};
	const files = [];
	const add = (name, contents) => {
		const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
		for (const [ending, bytes] of [
			['', contents],
			['.gz', gzipSync(contents, { level: 9 })],
			['.br', brotliCompressSync(contents, quality)],
		]) {
			files.push({ path: join(folder, name + ending), contents: bytes });
		}
		return name;
	};
	/** Named by its content: it may be kept for ever. */
	const addNamed = (name, contents) =>
		add(`${name}-${createHash('sha256').update(contents).digest('hex').slice(0, 10)}.js`, contents);

	const chat = addNamed('chat', await bundle('chat/index.tsx'));
	const languages = {};
	for (const path of filesBelow('src/widget/languages', (file) => /\/[a-z]{2}\.ts$/.test(file))) {
		const language = basename(path, '.ts');
		languages[language] = addNamed(language, await bundle(`languages/${language}.ts`));
	}
	const define = { CHAT_FILE: JSON.stringify(chat), LANGUAGE_FILES: JSON.stringify(languages) };
	// A classic script has no address of its own but that of its tag, which it is always told.
	add('widget.js', await bundle('script.ts', { format: 'iife', define: { ...define, 'import.meta.url': '""' } }));
	add('widget.mjs', await bundle('module.ts', { define }));
	add('widget.d.mts', readFileSync(join(root, 'src/widget/public.d.ts')));
	return files;
}
