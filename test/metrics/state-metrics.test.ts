import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deferred } from '../../src/base/index.ts';
import { Metrics } from '../../src/metrics/index.ts';
import { valuesOf } from './values-of.ts';

const NOTHING = { actorCounts: { residents: 0, waiting: 0 } };
const NEWEST = 'parley_backup_newest_timestamp_seconds';

/** Metrics of a server that makes a backup every hour. @param waitingTasks commits that wait for the database */
function metricsWith(newestMadeAt: () => Promise<number | null>, waitingTasks = 0) {
	const state = {
		...{ now: 0, waitingTasks, isWritable: true, databaseBytes: 0, walBytes: null, jobs: [] },
		documents: { indexed: 0, pending: 0, failed: 0 },
	};
	const metrics = new Metrics('1');
	metrics.observe({
		store: { onCommits: () => () => {}, state: async () => state },
		http: { openStreams: 0, openConnections: 0 },
		...{ conversations: NOTHING, deployments: NOTHING, placement: null },
		models: { unclosedCircuits: () => [] },
		backups: { everySeconds: 3_600, newestMadeAt },
	});
	return async (name: string) => valuesOf(await metrics.text(), name);
}

test('shows when the newest backup was made and how often one is made, 0 for none and for an unreadable folder', async () => {
	let newest = async (): Promise<number | null> => null;
	const read = metricsWith(() => newest());
	assert.deepEqual(await read('parley_backup_interval_seconds'), { '': 3_600 });
	assert.deepEqual(await read(NEWEST), { '': 0 });
	newest = async () => 1_700_000_000_500;
	assert.deepEqual(await read(NEWEST), { '': 1_700_000_000.5 });
	newest = async () => {
		throw new Error('The folder cannot be read.');
	};
	assert.deepEqual(await read(NEWEST), { '': 0 });
});

test('a scrape shows the last known time while the folder of the backups does not answer', async () => {
	const answered = deferred<number | null>();
	let newest: Promise<number | null> = Promise.resolve(1_700_000_000_000);
	const read = metricsWith(() => newest);
	assert.deepEqual(await read(NEWEST), { '': 1_700_000_000 });
	newest = answered.promise;
	const values = await Promise.all([read(NEWEST), read(NEWEST), read('parley_store_writable')]);
	assert.deepEqual(values, [{ '': 1_700_000_000 }, { '': 1_700_000_000 }, { '': 1 }]);
	answered.resolve(1_700_003_600_000);
	await answered.promise;
	assert.deepEqual(await read(NEWEST), { '': 1_700_003_600 });
});

test('shows the commits that wait for the database', async () => {
	const read = metricsWith(async () => null, 7);
	assert.deepEqual(await read('parley_store_waiting_commits'), { '': 7 });
});
