// npm run test:deb: installs the package of npm run build:deb in a chroot of Debian, starts its server there, upgrades, removes and purges
// it. Needs root and a mirror of Debian. Option: --root=FOLDER, a Debian from debootstrap instead of a new one.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, lstatSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildDeb } from './deb.mjs';
import { debianFolder } from './debian-folder.mjs';
import { ensureInstalled } from './install.mjs';
import { main, run, say, UserError } from './project.mjs';

const VERSION = '0.0.1~test1';
const NEXT_VERSION = '0.0.1~test2';
const START_MS = 120_000;
/** Packages that the scripts of the package need. */
const INCLUDED = ['adduser', 'init-system-helpers'];

await main(async () => {
	if (process.getuid() !== 0) throw new UserError('A chroot needs root.');
	await ensureInstalled();
	const packages = [await buildDeb(VERSION), await buildDeb(NEXT_VERSION)];
	const given = process.argv.find((arg) => arg.startsWith('--root='))?.slice('--root='.length);
	const folder = given ?? (await debianFolder(INCLUDED));
	try {
		for (const path of packages) copyFileSync(path, join(folder, 'tmp', basename(path)));
		await testPackage(folder, ...packages.map((path) => `/tmp/${basename(path)}`));
		say('Install, start, upgrade, removal and purge of the package work.');
	} finally {
		if (given === undefined) rmSync(folder, { recursive: true, force: true });
		for (const path of packages) rmSync(path);
	}
});

async function testPackage(folder, first, next) {
	const inside = async (...command) => {
		const { code, output } = await run('chroot', [folder, ...command], {
			quiet: true,
			env: { DEBIAN_FRONTEND: 'noninteractive', PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
		});
		assert.equal(code, 0, `${command.join(' ')}:\n${output}`);
		return output;
	};
	const at = (path) => join(folder, path);
	const mode = (path) => (statSync(at(path)).mode & 0o7777).toString(8);
	const hasUser = () => readFileSync(at('etc/passwd'), 'utf8').includes('\nparley:');

	await inside('dpkg', '--install', first);
	assert.equal((await inside('parley', '--help')).includes('serve'), true);
	assert.deepEqual([mode('var/lib/parley'), mode('etc/parley.env')], ['700', '640']);
	assert.equal(
		(await inside('stat', '-c', '%U:%G', '/var/lib/parley', '/etc/parley.env')).trim(),
		'parley:parley\nroot:parley',
	);
	assert.ok(lstatSync(at('etc/systemd/system/multi-user.target.wants/parley.service')).isSymbolicLink());
	await serve(folder);

	writeFileSync(at('etc/parley.env'), 'PARLEY_LOG_LEVEL=warn\n');
	await inside('dpkg', '--install', next);
	assert.match(await inside('dpkg-query', '--status', 'parley'), new RegExp(`^Version: ${NEXT_VERSION}$`, 'm'));
	assert.equal(readFileSync(at('etc/parley.env'), 'utf8'), 'PARLEY_LOG_LEVEL=warn\n');
	await serve(folder);

	await inside('dpkg', '--remove', 'parley');
	assert.equal(existsSync(at('usr/bin/parley')), false);
	assert.ok(existsSync(at('var/lib/parley/parley.db')) && existsSync(at('etc/parley.env')) && hasUser());
	await inside('dpkg', '--install', next);
	await serve(folder);

	await inside('dpkg', '--purge', 'parley');
	for (const path of ['var/lib/parley', 'var/cache/parley', 'etc/parley.env', 'lib/systemd/system/parley.service']) {
		assert.equal(lstatSync(at(path), { throwIfNoEntry: false }), undefined, path);
	}
	assert.equal(hasUser(), false);
	assert.equal((await inside('find', '/etc/systemd', '-name', 'parley*')).trim(), '');
}

/** Starts the server as the unit does, except for systemd, and stops it once it answers. */
async function serve(folder) {
	const unit = readFileSync(join(folder, 'lib/systemd/system/parley.service'), 'utf8');
	const [, command] = /^ExecStart=(.*)$/m.exec(unit);
	const [, settings] = /^Environment=(.*)$/m.exec(unit);
	const env = [...settings.split(' '), 'PARLEY_PORT=0', 'PATH=/usr/bin:/bin'];
	const cache = 'install -d -o parley -g parley -m 700 /var/cache/parley';
	const server = `exec setpriv --reuid parley --regid parley --clear-groups env -i ${env.join(' ')} ${command}`;
	// The mount is gone with the process. Node reads its memory from /proc.
	const enter = 'mount --rbind /proc "$0/proc" && exec chroot "$0" sh -c "$1"';
	const inside = `cd /var/lib/parley && ${cache} && ${server}`;
	const child = spawn('unshare', ['--mount', 'sh', '-c', enter, folder, inside], { stdio: ['ignore', 'pipe', 'pipe'] });
	let output = '';
	const exited = new Promise((resolve) => child.on('close', resolve));
	const listening = new Promise((resolve) => {
		for (const stream of [child.stdout, child.stderr]) {
			stream.on('data', (bytes) => {
				output += bytes;
				const address = /Parley listens on (\S+)/.exec(output)?.[1];
				if (address !== undefined) resolve(address);
			});
		}
		void exited.then(() => resolve(null));
		setTimeout(() => resolve(null), START_MS).unref();
	});
	try {
		const address = await listening;
		assert.ok(address, output);
		assert.equal((await fetch(`${address}/readyz`)).status, 200, output);
	} finally {
		child.kill('SIGTERM');
	}
	assert.equal(await exited, 0, output);
}
