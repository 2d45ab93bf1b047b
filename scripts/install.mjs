// Installs node_modules from package-lock.json, and does nothing if it is up to date.
import { existsSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fingerprint, isEntry, main, root, run, say, UserError } from './project.mjs';

const stampFile = join(root, 'node_modules/.parley-install');
// npm writes this list last, after all packages are unpacked and their install scripts have run.
const installedList = join(root, 'node_modules/.package-lock.json');

/** Installs the dependencies if they are missing or older than the lock file. */
export async function ensureInstalled() {
	checkNode();
	const wanted = fingerprint(['package-lock.json'], process.versions.modules, process.platform, process.arch);
	if (stamp() === wanted) return;
	if (sameAsLocked() && (await nativePartsLoad())) {
		writeFileSync(stampFile, wanted);
		return;
	}
	// If node_modules is a link, npm ci would empty its target, which may belong to another project.
	if (lstatSync(join(root, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink()) {
		throw new UserError(
			'node_modules is a link to a folder with other packages than package-lock.json asks for. Remove the link.',
		);
	}
	say(
		existsSync(installedList)
			? 'The dependencies are older than package-lock.json or were built for another Node; installing them again …'
			: 'Installing the dependencies; this takes about two minutes, once …',
	);
	// The stamp is removed first, so that an interrupted installation does not count as complete.
	rmSync(stampFile, { force: true });
	await npmCi();
	if (!(await nativePartsLoad())) {
		throw new UserError(
			`better-sqlite3 was installed but does not load on Node ${process.version}. Delete node_modules, see that python3, make and g++ are there, and run the command again.`,
		);
	}
	writeFileSync(stampFile, wanted);
	say('The dependencies are installed.');
}

function checkNode() {
	const [major, minor, patch] = process.versions.node.split('.').map(Number);
	const old = major < 20 || (major === 20 && (minor < 18 || (minor === 18 && patch < 1)));
	const packaged = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies['uWebSockets.js'];
	// The repackaged HTTP library has binaries for these two release lines. The official build supports others.
	const unknown = major !== 20 && major !== 22 && packaged.startsWith('npm:uws-pack@');
	if (old || unknown) {
		throw new UserError(
			`Parley runs on Node 22, or on Node 20 from 20.18.1; this is ${process.version}. Get one from https://nodejs.org and run the command again.${old ? '' : ' (For a newer Node see "Another Node" in docs/operations.md.)'}`,
		);
	}
}

function stamp() {
	try {
		return readFileSync(stampFile, 'utf8');
	} catch {
		return null;
	}
}

/** Whether every required package of the lock file is installed in its version, for example by running npm by hand. */
function sameAsLocked() {
	try {
		const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
		const there = JSON.parse(readFileSync(installedList, 'utf8')).packages;
		return (
			Object.keys(there).every((path) => locked[path]?.version === there[path].version) &&
			Object.keys(locked).every((path) => path === '' || locked[path].optional || path in there)
		);
	} catch {
		return false;
	}
}

async function nativePartsLoad() {
	const probe = "new (require('better-sqlite3'))(':memory:').close()";
	return (await run(process.execPath, ['-e', probe], { quiet: true })).code === 0;
}

async function npmCi() {
	const npm = process.env.npm_execpath;
	const [command, first] = npm?.endsWith('npm-cli.js') ? [process.execPath, [npm]] : ['npm', []];
	const args = [...first, 'ci', '--no-fund', '--no-audit', '--include=dev', '--include=optional'];
	let result;
	try {
		// Some packages report their installation to a third party by default.
		result = await run(command, args, { capture: true, env: { SCARF_ANALYTICS: 'false', DO_NOT_TRACK: '1' } });
	} catch (error) {
		if (error.code !== 'ENOENT') throw error;
		throw new UserError('npm is not on the PATH. It comes with Node: install Node from https://nodejs.org.');
	}
	if (result.code === 0) return;
	throw new UserError(`npm ci failed. ${remedyFor(result.output)}`);
}

function remedyFor(output) {
	if (/not found: make|ERR! find Python|not found: (g\+\+|c\+\+|cc)|(g\+\+|make): (command )?not found/i.test(output)) {
		return 'better-sqlite3 is compiled where no ready binary can be had, which needs python3, make and g++ (Debian, Ubuntu: apt-get install python3 make g++). Install them and run the command again.';
	}
	if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH/.test(output)) {
		return 'It needs the network: the npm registry, and github.com (or nodejs.org) for better-sqlite3; behind a proxy, set HTTPS_PROXY (and NODE_EXTRA_CA_CERTS for its certificate), then run the command again.';
	}
	if (/gyp ERR/.test(output)) {
		return 'Compiling better-sqlite3 failed; it needs python3, make and g++ (Debian, Ubuntu: apt-get install python3 make g++), and the lines above say what failed.';
	}
	if (/EACCES|EPERM/.test(output)) return 'This user may not write to the project folder; check who owns node_modules.';
	if (/ENOSPC/.test(output)) return 'The disk is full.';
	return 'The lines above say why. Fix the cause and run the command again.';
}

if (isEntry(import.meta.url)) await main(ensureInstalled);
