// A PostgreSQL server in a folder, from the programs of this machine.
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { start, until } from './programs.mjs';

/** Where Debian's package puts each version. */
const VERSIONS = '/usr/lib/postgresql';
const OLDEST = 15;

/**
 * Makes a database in the folder and starts its server there, on a Unix socket.
 * @returns the running program, and the URL of the database
 */
export async function startPostgres(folder) {
	const programs = findPrograms();
	// PostgreSQL does not run as root: then it runs as the user that Debian's package makes.
	const user = process.getuid() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
	mkdirSync(folder, { mode: 0o700 });
	if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
	const data = join(folder, 'data');
	const options = { ...user, cwd: folder };
	const made = spawnSync(join(programs, 'initdb'), ['-D', data, '-U', 'parley', '-A', 'trust', '-E', 'UTF8'], {
		...options,
		encoding: 'utf8',
	});
	if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
	let output = '';
	const server = start(join(programs, 'postgres'), ['-D', data, '-k', folder, '-c', 'listen_addresses='], {
		...options,
		onOutput: (text) => {
			output += text;
		},
	});
	let isEnded = false;
	void server.ended.then(() => {
		isEnded = true;
	});
	await until('PostgreSQL is ready', () => {
		if (isEnded) throw new Error(`PostgreSQL ended at its start.\n${output}`);
		const file = join(data, 'postmaster.pid');
		return existsSync(file) && readFileSync(file, 'utf8').includes('ready');
	});
	// SIGINT ends its connections, SIGTERM would wait for them.
	const url = `postgres://parley@localhost/postgres?host=${encodeURIComponent(folder)}`;
	return { url, pid: server.pid, stop: () => server.stop('SIGINT') };
}

function findPrograms() {
	const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).map(Number) : [];
	const newest = Math.max(...versions.filter((version) => version >= OLDEST));
	if (Number.isFinite(newest)) return join(VERSIONS, String(newest), 'bin');
	throw new Error(
		`There is no PostgreSQL ${OLDEST} or newer in ${VERSIONS}. Install it (Debian: apt-get install postgresql), or name a database: start.mjs postgres://user:password@host/name`,
	);
}

function idOf(option) {
	const { stdout } = spawnSync('id', [option, 'postgres'], { encoding: 'utf8' });
	const id = Number.parseInt(stdout, 10);
	if (Number.isNaN(id)) throw new Error('PostgreSQL does not run as root, and there is no user postgres.');
	return id;
}
