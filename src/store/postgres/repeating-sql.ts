import pg from 'pg';
import { AppError, sleep } from '../../base/index.ts';
import type { Sql } from './sql.ts';

/** For how long a statement is repeated where the database cannot be reached (ms). After it another node may answer sooner. */
const MAX_REPEATS_MS = 2_000;
const FIRST_DELAY_MS = 20;
const MAX_DELAY_MS = 250;

/**
 * Repeats statements whose connection was lost on another connection: after a restart of the database each connection of a pool is dead.
 * Only for statements that may be carried out twice, such as those of readers.
 * @throws AppError `unavailable` where the database cannot be reached in time
 */
export function repeatingSql(sql: Sql): Sql {
	return {
		all: (text, values) => repeat(() => sql.all(text, values)),
		get: (text, values) => repeat(() => sql.get(text, values)),
		run: (text, values) => repeat(() => sql.run(text, values)),
	};
}

async function repeat<T>(perform: () => Promise<T>): Promise<T> {
	const deadline = performance.now() + MAX_REPEATS_MS;
	for (let delay = FIRST_DELAY_MS; ; delay = Math.min(delay * 2, MAX_DELAY_MS)) {
		try {
			return await perform();
		} catch (error) {
			if (isRefusal(error)) throw error;
			if (performance.now() >= deadline) {
				throw new AppError('unavailable', 'The database does not answer.', { retry_after: 1, cause: error });
			}
			await sleep(delay);
		}
	}
}

/** The database has answered, and the connection goes on: a repeat would have the same answer. */
function isRefusal(error: unknown): boolean {
	return error instanceof pg.DatabaseError && error.severity === 'ERROR';
}
