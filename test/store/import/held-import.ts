import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { migrate } from '../../../src/store/postgres/migrate.ts';
import { until } from '../../support/until.ts';

const HOLD_LOCK = 4_711;

/** Stops an import in the middle of a portion: its transaction waits for a lock of this connection. */
export class HeldImport implements AsyncDisposable {
	readonly #client: pg.Client;

	private constructor(client: pg.Client) {
		this.#client = client;
	}

	/** @param url of a database that gets an import */
	static async prepare(url: string): Promise<HeldImport> {
		await migrate(url);
		const client = new pg.Client(url);
		await client.connect();
		await client.query(`
			SET search_path = parley;
			CREATE TABLE public.held (part text, copied bigint);
			CREATE FUNCTION public.hold_import() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				IF EXISTS (SELECT 1 FROM public.held WHERE part = NEW.part AND NEW.copied >= copied) THEN
					PERFORM pg_advisory_xact_lock_shared(${HOLD_LOCK});
				END IF;
				RETURN NEW;
			END $$;
			CREATE TRIGGER held BEFORE INSERT OR UPDATE ON import_progress FOR EACH ROW EXECUTE FUNCTION public.hold_import();
			SELECT pg_advisory_lock(${HOLD_LOCK})`);
		return new HeldImport(client);
	}

	/** The next import stops before the portion that brings a part to a number of rows is committed. */
	async holdAt(part: string, copied: number): Promise<void> {
		await this.#client.query('DELETE FROM public.held');
		await this.#client.query('INSERT INTO public.held VALUES ($1, $2)', [part, copied]);
	}

	/** The next import does not stop. */
	async holdNowhere(): Promise<void> {
		await this.#client.query('DELETE FROM public.held');
	}

	/** Waits until the import stands. @returns the process of PostgreSQL that serves it */
	async waitUntilHeld(): Promise<number> {
		let pid = 0;
		await until('the import waits', async () => {
			const { rows } = await this.#client.query(
				"SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND NOT granted",
				[HOLD_LOCK],
			);
			pid = rows[0]?.pid ?? 0;
			return pid !== 0;
		});
		return pid;
	}

	/** Cuts the connection of the import. */
	async cut(): Promise<void> {
		await this.#client.query('SELECT pg_terminate_backend($1)', [await this.waitUntilHeld()]);
	}

	/** Waits until the transaction of an import that was killed has ended. */
	async waitUntilGone(): Promise<void> {
		await until('the import has left the database', async () => {
			const { rows } = await this.#client.query("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted");
			return rows.length === 0;
		});
	}

	/** How many rows of a part PostgreSQL has by now, and what the progress says. */
	async countsOf(part: string): Promise<{ stored: number; copied: number }> {
		const { rows } = await this.#client.query(
			`SELECT (SELECT count(*) FROM parley.${part})::int AS stored,
				coalesce((SELECT copied FROM parley.import_progress WHERE part = $1), 0)::int AS copied`,
			[part],
		);
		return rows[0];
	}

	async query(sql: string): Promise<void> {
		await this.#client.query(sql);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#client.end();
	}
}

/** Starts an import as a process of its own. */
export function spawnImport(dataDir: string, url: string) {
	const child = spawn(
		process.execPath,
		['--import', 'tsx', fileURLToPath(new URL('./import-process.ts', import.meta.url)), dataDir, url],
		{ stdio: ['ignore', 'pipe', 'pipe'] },
	);
	let output = '';
	for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (output += bytes.toString()));
	const exited = new Promise<{ code: number | null; signal: string | null; output: string }>((resolve, reject) => {
		child.on('error', reject);
		child.on('close', (code, signal) => resolve({ code, signal, output }));
	});
	return {
		exited,
		kill: async () => {
			child.kill('SIGKILL');
			return exited;
		},
	};
}
