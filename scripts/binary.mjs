// npm run build:binary: the whole server as one executable, a single-executable application of Node: Node 22 of a pinned version, a small
// main, and all files of .build/ as assets, which the main unpacks at the start. Native parts are those for that Node.
import { createHash } from 'node:crypto';
import {
	chmodSync,
	copyFileSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	renameSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundle, bundleScript, ensureBuilt } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { httpLibrary } from './native-parts.mjs';
import { ensureNode22, ensureSqliteForNode22, NODE_22, NODE_22_MODULES, node22UnsupportedReason } from './node22.mjs';
import { filesBelow, fingerprint, isEntry, main, root, run, say, UserError } from './project.mjs';

/** Path of the executable. */
export const binary = join(root, '.build/parley');
const stampFile = join(root, '.build/binary.json');

/** The fuse by which Node recognises an executable with an application. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** Node runs `requireSameOrigin` in a main of this kind for built-in modules alone; from here on it is an ordinary program. */
const loaderScript = (script) => `// Where Node can (22.1 and later), what it has compiled is kept for the next start.
require('node:module').enableCompileCache?.(require('node:path').join(__dirname, 'compiled'));
import('./${script}');
`;
const STARTS = { 'start.cjs': loaderScript('main.js'), 'parse-host.cjs': loaderScript('workers/parse-host.js') };

/** Why the executable cannot be built on this system; null if it can. */
export function binaryUnsupportedReason() {
	if (process.platform === 'linux') return node22UnsupportedReason();
	return `The single executable can be built on Linux only; this is ${process.platform}. "npm run build" builds the server for an installed Node.`;
}

/** Builds the executable if it is stale. Needs the dependencies. */
export async function ensureBinary() {
	const why = binaryUnsupportedReason();
	if (why !== null) throw new UserError(why);
	const outputs = await ensureBuilt();
	const wanted = fingerprint(
		[
			...outputs.map((path) => `.build/${path}`),
			...filesBelow('src/binary'),
			'scripts/binary.mjs',
			'scripts/node22.mjs',
		],
		NODE_22,
	);
	if (isBuilt(wanted)) {
		say('The binary is up to date.');
		return binary;
	}
	const started = performance.now();
	await packageExecutable(new Map(outputs.map((path) => [path, readFileSync(join(root, '.build', path))])), binary);
	writeFileSync(stampFile, JSON.stringify({ sources: wanted, built: fingerprint(['.build/parley']) }));
	const megabytes = (readFileSync(binary).length / 1_000_000).toFixed(0);
	say(`Built .build/parley (${megabytes} MB) in ${((performance.now() - started) / 1000).toFixed(1)} s.`);
	return binary;
}

/** Builds everything again to a given path. Builds of the same sources on the same machine are byte-identical. */
export async function buildTo(path) {
	await packageExecutable(await bundle(), path);
}

/** Writes an executable with these files. */
async function packageExecutable(files, outputPath) {
	const packaged = await ensureNode22();
	const node = join(packaged, 'bin/node');
	const folder = mkdtempSync(join(root, '.build/seal-'));
	try {
		const carried = new Map([...files, ...(await nativePartsOf(packaged)), ...Object.entries(STARTS)]);
		const nodeLicence = readFileSync(join(packaged, 'LICENSE'), 'utf8');
		carried.set('licences.txt', `${files.get('licences.txt')}\n\nNode.js ${NODE_22}\n\n${nodeLicence}`);
		write(join(folder, 'main.cjs'), await bundleScript('./src/binary/main.ts'));
		write(join(folder, 'contents.json'), JSON.stringify(contentsOf(carried)));
		// Compressed: the executable is smaller and uses less memory, because Node maps all assets at the start.
		for (const [path, bytes] of carried) write(join(folder, 'parts', path), gzipSync(bytes, { level: 9 }));
		write(join(folder, 'sea.json'), JSON.stringify(application(carried)));
		// Relative paths, because they become part of the executable.
		const succeeded = async (...args) => {
			const { code, output } = await run(node, args, { cwd: folder, quiet: true });
			if (code !== 0) throw new UserError(`The executable could not be built:\n${output.trim()}`);
		};
		await succeeded('--experimental-sea-config', 'sea.json');

		const partial = join(folder, 'parley');
		copyFileSync(node, partial);
		chmodSync(partial, 0o755);
		const postject = join(root, 'node_modules/postject/dist/cli.js');
		await succeeded(postject, partial, 'NODE_SEA_BLOB', 'application', '--sentinel-fuse', FUSE);
		renameSync(partial, outputPath);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** The native parts that depend on the version of Node. */
async function nativePartsOf(packaged) {
	return [
		['native/better_sqlite3.node', readFileSync(await ensureSqliteForNode22(packaged))],
		['native/uws.node', readFileSync(join(root, httpLibrary(NODE_22_MODULES)))],
	];
}

function application(files) {
	return {
		main: 'main.cjs',
		output: 'application',
		disableExperimentalSEAWarning: true,
		useSnapshot: false,
		useCodeCache: false,
		assets: {
			'contents.json': 'contents.json',
			...Object.fromEntries([...files.keys()].sort().map((path) => [path, `parts/${path}`])),
		},
	};
}

/** The manifest that src/binary/manifest.ts describes. */
function contentsOf(files) {
	const parts = [...files]
		.map(([path, bytes]) => ({ path, bytes: Buffer.byteLength(bytes), sha256: sha256(bytes) }))
		.sort((a, b) => (a.path < b.path ? -1 : 1));
	const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
	return { version, digest: sha256(JSON.stringify(parts)), parts };
}

function sha256(bytes) {
	return createHash('sha256').update(bytes).digest('hex');
}

function write(path, bytes) {
	mkdirSync(join(path, '..'), { recursive: true });
	writeFileSync(path, bytes);
}

function isBuilt(wanted) {
	try {
		const { sources, built } = JSON.parse(readFileSync(stampFile, 'utf8'));
		return sources === wanted && built === fingerprint(['.build/parley']);
	} catch {
		return false;
	}
}

if (isEntry(import.meta.url)) {
	await main(async () => {
		await ensureInstalled();
		await ensureBinary();
	});
}
