// Bundles src/main.ts and the workers with their dependencies into .build/, and does nothing if that is up to date.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { bundleDashboard } from './dashboard-bundle.mjs';
import { ensureInstalled } from './install.mjs';
import { licences } from './licences.mjs';
import { loadsNativeParts, nativeParts, nativePartsPlugin } from './native-parts.mjs';
import { filesBelow, fingerprint, isEntry, main, root, say, UserError } from './project.mjs';
import { ensureWasmCompiled } from './wat.mjs';
import { bundleWidget } from './widget-bundle.mjs';

const outputFolder = join(root, '.build');
const stampFile = join(outputFolder, 'stamp.json');

/** Optional peer packages that are not installed. */
export const OPTIONAL_PACKAGES = ['@napi-rs/nice', 'canvas', 'pg-native', 'pino-pretty'];

/** Packages that write what CommonJS gives them find it in every file of the bundle. */
export const COMMON_JS_BANNER = [
	"import { createRequire as createRequireHere } from 'node:module';",
	"import { fileURLToPath as pathHere } from 'node:url';",
	'const require = createRequireHere(import.meta.url);',
	'const __filename = pathHere(import.meta.url);',
	"const __dirname = pathHere(new URL('.', import.meta.url));",
].join(' ');

/**
 * Builds if the output is stale. Needs the dependencies.
 * @returns the paths of all files of the server, relative to .build/
 */
export async function ensureBuilt() {
	const started = performance.now();
	await ensureWasmCompiled();
	const wanted = fingerprint(
		[
			...filesBelow('src'),
			...filesBelow('workers'),
			...filesBelow('data/samples'),
			...scripts(),
			'package-lock.json',
			'package.json',
		],
		// Native parts depend on the version of Node.
		...[process.versions.modules, process.platform, process.arch],
	);
	const before = readStamp();
	if (before?.sources === wanted && fingerprintOfOutputs(before.outputs) === before.built) {
		say('The build is up to date.');
		return before.outputs;
	}

	const files = await bundle();
	const outputs = [...files.keys()].sort();
	// Files that a running server may still load stay until the next build.
	const known = new Set([...outputs, ...(before?.outputs ?? [])].map((path) => `.build/${path}`));
	for (const path of filesBelow('.build')) {
		if (/^\.build\/(widget\/|dashboard\/|static\/|(workers\/)?[^/]+\.js(\.map)?$)/.test(path) && !known.has(path))
			rmSync(join(root, path));
	}
	// Files are written atomically, so a running server never reads a partial file.
	for (const [path, contents] of files) {
		const outputPath = join(outputFolder, path);
		mkdirSync(dirname(outputPath), { recursive: true });
		const partial = `${outputPath}.${process.pid}.tmp`;
		writeFileSync(partial, contents);
		renameSync(partial, outputPath);
	}
	writeFileSync(stampFile, JSON.stringify({ sources: wanted, outputs, built: fingerprintOfOutputs(outputs) }));
	say(`Built ${outputs.length} files in ${Math.round(performance.now() - started)} ms.`);
	return outputs;
}

/**
 * The whole server as files, with paths relative to the target folder. They run on this Node without installed packages. Equal sources
 * give equal bytes. Names and lines stay as in the sources, for stack traces.
 */
export async function bundle() {
	const built = await withEsbuild(async (esbuild) => {
		const server = await esbuild.build({
			...FOR_NODE,
			entryPoints: [
				{ in: './src/main.ts', out: 'main' },
				...workers().map((path) => ({ in: `./${path}`, out: `workers/${basename(path, '.ts')}` })),
				// Runs in each thread of a pool. The pool loads it by this name from its own folder.
				{ in: './node_modules/piscina/dist/worker.js', out: 'worker' },
			],
			outdir: outputFolder,
			format: 'esm',
			// Splitting loads rarely used parts on demand.
			splitting: true,
			metafile: true,
			banner: { js: COMMON_JS_BANNER },
			plugins: [nativePartsPlugin],
			external: OPTIONAL_PACKAGES,
		});
		for (const { path, external } of Object.values(server.metafile.outputs).flatMap(({ imports }) => imports)) {
			// Some built-in modules exist in newer versions of Node only, and are imported only there.
			const provided = path.startsWith('node:') || isBuiltin(path) || OPTIONAL_PACKAGES.includes(path);
			if (external && !provided) throw new Error(`${path} is not in the bundle.`);
		}
		const widget = await bundleWidget(esbuild, join(outputFolder, 'widget'));
		const dashboard = await bundleDashboard(esbuild, join(outputFolder, 'dashboard'), widget.preview);
		const docs = await bundleDocs(esbuild);
		return {
			files: [...server.outputFiles, ...widget.files, ...dashboard.files, ...docs],
			inputs: [...Object.keys(server.metafile.inputs), ...dashboard.inputs],
		};
	});
	const misplaced = built.files.find(({ path, text }) => path.includes('/workers/') && loadsNativeParts(text));
	if (misplaced !== undefined) throw new Error(`${misplaced.path} would look for native parts in workers/.`);
	const copied = nativeParts();
	const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
	return new Map([
		...built.files.map(({ path, contents }) => [path.slice(outputFolder.length + 1), contents]),
		...Object.entries(copied).map(([path, from]) => [path, readFileSync(join(root, from))]),
		['package.json', `${JSON.stringify({ name: 'parley', version, private: true, type: 'module' })}\n`],
		['licences.txt', licences([...built.inputs, ...Object.values(copied)])],
	]);
}

/** The script and the style sheet of the API documentation, as esbuild's output files: `{path, contents, text}`. */
async function bundleDocs(esbuild) {
	const { outputFiles } = await esbuild.build({
		absWorkingDir: root,
		entryPoints: [
			{ in: './src/api-docs/index.ts', out: 'docs' },
			{ in: './src/api-docs/docs.css', out: 'docs' },
		],
		outdir: join(outputFolder, 'static/docs'),
		bundle: true,
		minify: true,
		format: 'esm',
		platform: 'browser',
		target: ['es2022', 'safari16.4'],
		charset: 'utf8',
		legalComments: 'none',
		tsconfig: './src/api-docs/tsconfig.json',
		write: false,
		logLevel: 'warning',
	});
	return outputFiles;
}

/** Bundles one file of this project for Node, without packages. */
export async function bundleScript(path) {
	const { outputFiles } = await withEsbuild((esbuild) =>
		esbuild.build({ ...FOR_NODE, entryPoints: [path], format: 'cjs' }),
	);
	return outputFiles[0].contents;
}

/** Options for all bundles that run on Node. */
export const FOR_NODE = {
	absWorkingDir: root,
	bundle: true,
	platform: 'node',
	target: 'node20',
	legalComments: 'none',
	write: false,
	logLevel: 'warning',
};

/** Runs esbuild, which prints its own messages. */
export async function withEsbuild(use) {
	const esbuild = await import('esbuild');
	try {
		return await use(esbuild);
	} catch (error) {
		if (!Array.isArray(error.errors)) throw error;
		throw new UserError('The build failed. The lines above say where.');
	} finally {
		await esbuild.stop();
	}
}

/** The entry points of worker threads. */
export function workers() {
	return filesBelow('workers', (path) => path.endsWith('.ts') && dirname(path) === 'workers');
}

/** The scripts that affect the output. */
function scripts() {
	return ['build', 'compressed-variants', 'dashboard-bundle', 'licences', 'native-parts', 'wat', 'widget-bundle'].map(
		(name) => `scripts/${name}.mjs`,
	);
}

function readStamp() {
	try {
		return JSON.parse(readFileSync(stampFile, 'utf8'));
	} catch {
		return null;
	}
}

/** The fingerprint of the outputs; null if one is missing. */
function fingerprintOfOutputs(outputs) {
	try {
		return fingerprint(outputs.map((path) => `.build/${path}`));
	} catch {
		return null;
	}
}

if (isEntry(import.meta.url)) {
	await main(async () => {
		await ensureInstalled();
		await ensureBuilt();
	});
}
