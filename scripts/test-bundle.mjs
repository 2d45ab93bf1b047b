// Bundles test files with all that they import, the workers too. Loading the server from some hundred TypeScript files takes a
// second of processor time, and every test file is a process of its own that would do it again, once more in each worker.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { COMMON_JS_BANNER, FOR_NODE, OPTIONAL_PACKAGES, withEsbuild, workers } from './build.mjs';
import { root } from './project.mjs';

const BUNDLES = join(root, '.build', 'tests');
const DAY_MS = 24 * 3_600_000;

/** Packages that load files from their own folder, machine code or a browser's driver. */
const EXTERNAL_PACKAGES = ['better-sqlite3', 'sqlite-vec', 'uWebSockets.js', 'piscina', 'playwright-core'];

/** Marks the entry points that `groupPlugin` writes. */
const GROUP_SCHEME = 'group:';

/** Looks for the workers beside itself, as it does in the bundled server. */
const WORKER_ENTRY_FILE = join(root, 'src', 'pool', 'worker-entry.ts');

/**
 * Bundles groups of test files, given as paths relative to the project. The folder is new, so that concurrent runs, perhaps of different
 * sources, do not affect each other.
 * @returns in the order of the groups: the bundled file of each, and the file in which its process writes {pid, file, hasEnded}: the test
 *   file that it runs, or whether that was the last and has ended; and a function that removes all files
 */
export async function bundleTests(groups) {
	mkdirSync(BUNDLES, { recursive: true });
	for (const name of readdirSync(BUNDLES)) {
		// Left by an interrupted run.
		const folder = join(BUNDLES, name);
		if (existsSync(folder) && Date.now() - statSync(folder).mtimeMs > DAY_MS) rmSync(folder, { recursive: true });
	}
	const folder = mkdtempSync(join(BUNDLES, 'run-'));
	const remove = () => rmSync(folder, { recursive: true, force: true });
	try {
		await withEsbuild((esbuild) =>
			esbuild.build({
				...FOR_NODE,
				entryPoints: [
					...groups.map(({ name }) => ({ in: `${GROUP_SCHEME}${name}`, out: name })),
					...workers().map((path) => ({ in: `./${path}`, out: withoutEnding(path) })),
				],
				outdir: folder,
				write: true,
				format: 'esm',
				splitting: true,
				sourcemap: 'linked',
				sourcesContent: false,
				// Modules of packages have the URL of the bundle, as in the bundled server.
				banner: { js: `${COMMON_JS_BANNER} globalThis.addressOfThisModule ??= import.meta.url;` },
				define: { 'import.meta.url': 'addressOfThisModule' },
				plugins: [groupPlugin(groups, folder), moduleAddressPlugin(folder)],
				external: [...EXTERNAL_PACKAGES, ...OPTIONAL_PACKAGES],
			}),
		);
	} catch (error) {
		remove();
		throw error;
	}
	return {
		bundled: groups.map(({ name }) => join(folder, `${name}.js`)),
		stateFiles: groups.map(({ name }) => stateFileOf(folder, name)),
		remove,
	};
}

function stateFileOf(folder, group) {
	return join(folder, `${group}.state.json`);
}

/**
 * The head of a group's entry point. A process that exits before its last file has ended fails and names the file. For `watchGroups` it
 * writes the file that it runs to the state file, and on SIGUSR2 it prints what keeps it alive and exits.
 */
const groupHead = (stateFile) => `import { writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
let running = null;
let last;
const writeState = (file, hasEnded) =>
	writeFileSync(${JSON.stringify(stateFile)}, JSON.stringify({ pid: process.pid, file, hasEnded }));
process.on('exit', (code) => {
	if (running === null) return;
	console.error('The process exited with ' + code + ' before the tests of ' + running + ' had ended.');
	process.exitCode = code || 1;
});
process.on('SIGUSR2', () => {
	console.error('The process is still alive because of: ' + process.getActiveResourcesInfo().join(', '));
	process.exit(1);
});
async function runFile(path, load) {
	running = last = path;
	writeState(path, false);
	// Node 22 reports a suite that throws, but exits with 0.
	await describe(path, () => load().catch((error) => test('is imported', () => Promise.reject(error))));
	running = null;
}`;

/**
 * The end of a group's entry point. Node may hang for ever when it exits while V8 compiles in another thread (nodejs/node issue 54918), so
 * the compilations of the last test get the time to end.
 */
const GROUP_END = `writeState(last, true);
await new Promise((resolve) => setTimeout(resolve, 250));`;

/**
 * An esbuild plugin: the entry point of a group runs its files one after the other. Each file is a suite: its hooks apply to its
 * own tests, and its servers are closed before the next file is imported.
 */
function groupPlugin(groups, folder) {
	const runFile = (path) => `await runFile(${JSON.stringify(path)}, () => import(${JSON.stringify(`./${path}`)}));`;
	return {
		name: 'groups of test files',
		setup(build) {
			build.onResolve({ filter: new RegExp(`^${GROUP_SCHEME}`) }, ({ path }) => ({
				path: path.slice(GROUP_SCHEME.length),
				namespace: 'group',
			}));
			build.onLoad({ filter: /.*/, namespace: 'group' }, ({ path }) => {
				const { files } = groups.find(({ name }) => name === path);
				const head = groupHead(stateFileOf(folder, path));
				const lines = [head, ...files.map(runFile), GROUP_END];
				return { contents: lines.join('\n'), loader: 'js', resolveDir: root };
			});
		},
	};
}

/** An esbuild plugin: modules of this project still find files beside their source. */
function moduleAddressPlugin(folder) {
	return {
		name: 'places of modules',
		setup(build) {
			build.onLoad({ filter: /[\\/](src|workers|bench|test)[\\/].*\.tsx?$/ }, ({ path }) => {
				if (path.includes('node_modules')) return undefined;
				const place = path === WORKER_ENTRY_FILE ? join(folder, basename(path)) : path;
				// On the first line, so that line numbers stay the same.
				const address = `const addressOfThisModule = ${JSON.stringify(pathToFileURL(place).href)};`;
				return { contents: `${address} ${readFileSync(path, 'utf8')}`, loader: extname(path).slice(1) };
			});
		},
	};
}

function withoutEnding(path) {
	return path.slice(0, -extname(path).length);
}
