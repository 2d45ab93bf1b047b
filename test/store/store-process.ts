import { newId } from '../../src/base/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import { assistant } from './samples.ts';

/**
 * A process that owns the store of a folder and commits in an endless loop, each record with an event of its own stream. It
 * prints `open`, then the id of each acknowledged record, until it is killed.
 */
const [dataDir] = process.argv.slice(2);
if (!dataDir) throw new Error('usage: store-process <folder>');
const store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
process.stdout.write('open\n');

async function commitForEver(): Promise<never> {
	for (;;) {
		const record = assistant();
		const event = { id: newId('event'), stream: record.id, type: 'made', data: {}, created_at: 0 };
		const { outcome } = await store.commit({
			write: [{ op: 'insert', kind: 'assistants', record }],
			events: [event],
		});
		if (outcome !== 'committed') throw new Error(outcome);
		process.stdout.write(`${record.id}\n`);
	}
}
await Promise.all(Array.from({ length: 8 }, commitForEver));
