// Bundles src/main.ts and the workers into .build/, and does nothing where they are up to date.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ensureInstalled } from './install.mjs';
import { filesBelow, fingerprint, isEntry, main, Remedy, root, say } from './project.mjs';

const outputFolder = join(root, '.build');
const stampFile = join(outputFolder, 'stamp.json');

/** Builds what is stale. Needs the dependencies. */
export async function ensureBuilt() {
	const started = performance.now();
	const workers = filesBelow('workers', (path) => path.endsWith('.ts') && dirname(path) === 'workers');
	const sources = [
		...filesBelow('src'),
		...filesBelow('workers'),
		'.scripts/build.mjs',
		'package-lock.json',
		'package.json',
	];
	const wanted = fingerprint(sources);
	const before = readStamp();
	if (before?.sources === wanted && fingerprintOfOutputs(before.outputs) === before.built) {
		say('The build is up to date.');
		return;
	}

	const esbuild = await import('esbuild');
	let files;
	try {
		const result = await esbuild.build({
			absWorkingDir: root,
			entryPoints: [
				{ in: './src/main.ts', out: 'main' },
				...workers.map((path) => ({ in: `./${path}`, out: `workers/${basename(path, '.ts')}` })),
			],
			outdir: outputFolder,
			bundle: true,
			// Installed packages stay in node_modules: several bring native parts, data files or workers of their own.
			packages: 'external',
			format: 'esm',
			platform: 'node',
			target: 'node20',
			sourcemap: 'linked',
			write: false,
			logLevel: 'warning',
		});
		files = result.outputFiles;
	} catch (error) {
		if (!Array.isArray(error.errors)) throw error;
		throw new Remedy('The build failed; the lines above say where.');
	} finally {
		await esbuild.stop();
	}

	const outputs = files.map(({ path }) => path.slice(root.length));
	for (const stale of filesBelow('.build')) {
		if (/\.js(\.map)?$/.test(stale) && !outputs.includes(stale)) rmSync(join(root, stale));
	}
	// Each file is put in place whole: a server that is running from here never reads half of one.
	for (const { path, contents } of files) {
		mkdirSync(dirname(path), { recursive: true });
		const partial = `${path}.${process.pid}.tmp`;
		writeFileSync(partial, contents);
		renameSync(partial, path);
	}
	writeFileSync(stampFile, JSON.stringify({ sources: wanted, outputs, built: fingerprintOfOutputs(outputs) }));
	say(
		`Built ${outputs.filter((path) => path.endsWith('.js')).length} files in ${Math.round(performance.now() - started)} ms.`,
	);
}

function readStamp() {
	try {
		return JSON.parse(readFileSync(stampFile, 'utf8'));
	} catch {
		return null;
	}
}

/** The outputs' fingerprint; null where one is missing. */
function fingerprintOfOutputs(outputs) {
	try {
		return fingerprint(outputs);
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
