import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { until } from './until.ts';

/** Where Debian's package puts each major version. */
const VERSIONS = '/usr/lib/postgresql';
const OLDEST = 15;
/** The user that Debian's package makes. PostgreSQL does not run as root. */
const SYSTEM_USER = 'postgres';

/** A PostgreSQL server in a temporary folder, on a Unix socket there. */
export interface PostgresServer extends AsyncDisposable {
	/**
	 * The URL of a database, made when it is first named.
	 * @param disk where its tables are kept; default: with those of the server
	 */
	database(name: string, disk?: string): Promise<string>;
	/** Of the process that starts all others. */
	readonly pid: number;
	/** The path of its Unix socket. */
	readonly socket: string;
	/** Ends it as a crash does (it recovers from its log), or as its administrator does, and starts it again. */
	restart(how: 'crash' | 'stop'): Promise<void>;
}

/** The folder of PostgreSQL's programs; null where there are none that this user can start. */
function findPrograms(): string | null {
	const versions = existsSync(VERSIONS)
		? readdirSync(VERSIONS)
				.map(Number)
				.filter((version) => version >= OLDEST)
		: [];
	const newest = versions.sort((a, b) => b - a)[0];
	if (newest === undefined || (process.getuid?.() === 0 && account() === null)) return null;
	return join(VERSIONS, String(newest), 'bin');
}

/** The path of a program of PostgreSQL, such as `pg_dump`. */
export function postgresProgram(name: string): string {
	return join(findPrograms() as string, name);
}

/** The ids of the user that runs PostgreSQL instead of root; null where there is none. */
function account(): { uid: number; gid: number } | null {
	const ids = ['-u', '-g'].map((option) => spawnSync('id', [option, SYSTEM_USER], { encoding: 'utf8' }).stdout);
	const [uid, gid] = ids.map((text) => Number.parseInt(text, 10));
	return uid && gid ? { uid, gid } : null;
}

/** The reason to skip a test that needs PostgreSQL; false where it can be started. */
export const skipWithoutPostgres: string | false =
	findPrograms() === null &&
	`skipped: PostgreSQL ${OLDEST} or newer is not installed (Debian: apt-get install postgresql)`;

/** Starts a server. @param syncs whether commits reach the disk; by default not, because tests lose no power */
export async function startPostgres({ syncs = false } = {}): Promise<PostgresServer> {
	const programs = findPrograms() as string;
	const user = process.getuid?.() === 0 ? account() : null;
	const folder = await mkdtemp(join(tmpdir(), 'parley-pg-'));
	if (user) chownSync(folder, user.uid, user.gid);
	const data = join(folder, 'data');
	const ids = user ?? {};
	const initdb = spawnSync(join(programs, 'initdb'), ['-D', data, '-U', 'parley', '-A', 'trust', '-E', 'UTF8', '-N'], {
		...ids,
		cwd: folder,
		encoding: 'utf8',
	});
	if (initdb.status !== 0) throw new Error(`initdb failed: ${initdb.stderr}`);
	const args = [
		'-D',
		data,
		'-k',
		folder,
		'-c',
		'listen_addresses=',
		'-c',
		`fsync=${syncs ? 'on' : 'off'}`,
		'-c',
		'shared_buffers=32MB',
	];
	const url = (name: string) => `postgres://parley@/${name}?host=${encodeURIComponent(folder)}`;
	const start = async () => {
		const server = spawn(join(programs, 'postgres'), args, { ...ids, cwd: folder, stdio: 'ignore' });
		const exited = new Promise((resolve) => server.once('exit', resolve));
		const state = () => readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '');
		await until('PostgreSQL is ready', async () => (await state()).includes('ready'));
		return {
			pid: server.pid as number,
			async end(signal: NodeJS.Signals) {
				server.kill(signal);
				await exited;
			},
		};
	};
	let running = await start();
	const made = new Set<string>();
	return {
		get pid() {
			return running.pid;
		},
		socket: join(folder, '.s.PGSQL.5432'),
		async restart(how) {
			await running.end(how === 'crash' ? 'SIGQUIT' : 'SIGINT');
			running = await start();
		},
		async database(name, disk) {
			if (!made.has(name)) {
				made.add(name);
				const client = new pg.Client(url('postgres'));
				await client.connect();
				let place = '';
				if (disk !== undefined) {
					const tables = await mkdtemp(join(disk, 'tables-'));
					if (user) chownSync(tables, user.uid, user.gid);
					await client.query(`CREATE TABLESPACE other LOCATION ${client.escapeLiteral(tables)}`);
					place = ' TABLESPACE other';
				}
				await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}${place}`);
				await client.end();
			}
			return url(name);
		},
		async [Symbol.asyncDispose]() {
			// Without waiting for connections that a failed test has left open.
			await running.end('SIGQUIT');
			await rm(folder, { recursive: true, force: true });
		},
	};
}
