// Bundles the simulations of conversations with the server that they simulate, and runs the bundles.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { COMMON_JS_BANNER, FOR_NODE, OPTIONAL_PACKAGES, withEsbuild } from './build.mjs';
import { root, UserError } from './project.mjs';
import { ensureWasmCompiled } from './wat.mjs';

const FOLDER = join(root, '.build', 'simulations');
/** Packages with machine code. */
const EXTERNAL_PACKAGES = ['better-sqlite3', 'sqlite-vec', 'uWebSockets.js', 'piscina'];

const folders = new Set();

/** The last bundle: each waits for the one before, because the end of one build stops esbuild. */
let lastBundle = Promise.resolve();

/**
 * Bundles the simulations. @param mutation a fault to plant: {file, find, replace}
 * @returns the path of the program
 * @throws UserError where the text of the mutation is not in its file exactly once
 */
export function bundleSimulation(mutation = null) {
	const bundle = lastBundle.then(() => bundleNow(mutation));
	lastBundle = bundle.catch(() => {});
	return bundle;
}

async function bundleNow(mutation) {
	await ensureWasmCompiled();
	mkdirSync(FOLDER, { recursive: true });
	const folder = mkdtempSync(join(FOLDER, 'run-'));
	folders.add(folder);
	const outfile = join(folder, 'main.js');
	// Before esbuild, which would wrap the error.
	const planted = mutation === null ? null : { path: join(root, mutation.file), text: mutated(mutation) };
	await withEsbuild((esbuild) =>
		esbuild.build({
			...FOR_NODE,
			entryPoints: ['test/simulation/main.ts'],
			outfile,
			write: true,
			format: 'esm',
			sourcemap: 'linked',
			sourcesContent: false,
			banner: { js: COMMON_JS_BANNER },
			plugins: planted === null ? [] : [mutationPlugin(planted)],
			external: [...EXTERNAL_PACKAGES, ...OPTIONAL_PACKAGES],
		}),
	);
	return outfile;
}

/** Removes all bundles. */
export function removeSimulations() {
	for (const folder of folders) rmSync(folder, { recursive: true, force: true });
	folders.clear();
}

/** The source with the fault. */
export function mutated({ name, file, find, replace }) {
	const source = readFileSync(join(root, file), 'utf8');
	const count = source.split(find).length - 1;
	if (count !== 1) {
		throw new UserError(`The fault '${name}' replaces a text that is ${count} times in ${file}:\n${find}`);
	}
	return source.replace(find, () => replace);
}

/** An esbuild plugin: one file has another text. */
function mutationPlugin({ path: planted, text }) {
	let isUsed = false;
	return {
		name: 'planted fault',
		setup(build) {
			build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
				if (path !== planted) return undefined;
				isUsed = true;
				return { contents: text, loader: 'ts' };
			});
			build.onEnd(() => {
				if (!isUsed) throw new Error(`The simulations do not use ${planted}.`);
			});
		},
	};
}

/**
 * Runs a program of simulations.
 * @returns its exit code, its output, and the totals that it has printed
 */
export async function playSeeds(program, args, { prints = false } = {}) {
	const child = spawn(process.execPath, ['--enable-source-maps', program, ...args], {
		stdio: ['ignore', prints ? 'inherit' : 'pipe', 'inherit'],
	});
	let output = '';
	child.stdout?.setEncoding('utf8').on('data', (text) => {
		output += text;
	});
	const code = await new Promise((resolve, reject) => {
		child.on('error', reject);
		child.on('close', (exitCode) => resolve(exitCode ?? 1));
	});
	const line = output.split('\n').find((each) => each.startsWith('{'));
	return { code, output, totals: line === undefined ? {} : JSON.parse(line) };
}
