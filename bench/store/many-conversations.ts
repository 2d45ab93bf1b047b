import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore, type Write } from '../../src/store/index.ts';
import { startServer } from '../../test/support/server-process.ts';
import { copyOf, dataSet } from '../load/data-set.ts';
import { conversationRecord, messageRecord } from './records.ts';

/** A data folder with many conversations. */
export interface ManyConversations extends AsyncDisposable {
	readonly dataDir: string;
	readonly key: string;
	readonly assistant: string;
	readonly conversations: string[];
}

/** More than the server keeps in memory. */
const COUNT = 110_000;
const BATCH_SIZE = 500;
/** Sources of the data, besides the storage code. */
const SOURCES = ['./many-conversations.ts', './records.ts'].map((file) => new URL(file, import.meta.url));

/** A copy of the data set, which the first call creates: an assistant with 110,000 conversations of two messages each. */
export async function manyConversations(): Promise<ManyConversations> {
	const copy = await copyOf(await dataSet('conversations', SOURCES, make));
	const facts = JSON.parse(await readFile(join(copy.folder, 'facts.json'), 'utf8'));
	return { dataDir: copy.folder, ...facts, [Symbol.asyncDispose]: () => copy[Symbol.asyncDispose]() };
}

async function make(folder: string): Promise<void> {
	const { key, ...owner } = await prepare(folder);
	const conversations = await fill(folder, owner);
	const facts = { key, assistant: owner.assistant_id, conversations };
	await writeFile(join(folder, 'facts.json'), JSON.stringify(facts));
}

/** Creates the assistant and deployment of the conversations with the server itself. */
async function prepare(dataDir: string) {
	await using server = await startServer({ dataDir });
	const assistant = (await server.call('POST', '/api/v1/assistants', { name: 'Bench' })).body.id as string;
	const deployment = (await server.call('POST', '/api/v1/deployments', { assistant_id: assistant })).body.id as string;
	const workspace = (await server.call('GET', '/api/v1/workspace')).body.id as string;
	await server.stop();
	return { key: server.key, workspace_id: workspace, assistant_id: assistant, deployment_id: deployment };
}

async function fill(dataDir: string, owner: Parameters<typeof conversationRecord>[0]): Promise<string[]> {
	await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	const ids: string[] = [];
	while (ids.length < COUNT) {
		const write: Write[] = [];
		for (let at = 0; at < BATCH_SIZE; at++) {
			const record = conversationRecord(owner);
			ids.push(record.id);
			write.push(
				{ op: 'insert', kind: 'conversations', record },
				{ op: 'insert', kind: 'messages', record: messageRecord(record, 'user', 1) },
				{ op: 'insert', kind: 'messages', record: messageRecord(record, 'assistant', 2) },
			);
		}
		const { outcome } = await store.commit({ write });
		if (outcome !== 'committed') throw new Error(`A commit ended as ${outcome}.`);
	}
	return ids;
}
