import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { constants, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore, type Write } from '../../src/store/index.ts';
import { startServer } from '../../test/support/server-process.ts';
import { FIGURES } from '../report/report.ts';
import { conversationRecord, messageRecord } from './records.ts';

/** A data folder with many conversations. */
export interface ManyConversations extends AsyncDisposable {
	readonly dataDir: string;
	readonly key: string;
	readonly assistant: string;
	readonly conversations: string[];
}

/** Somewhat more than may be in memory at once. */
const COUNT = 110_000;
const IN_A_COMMIT = 500;
const DATA = join(FIGURES, 'data');
const NAME = 'conversations-';
/** What decides how the data are made: made by other code, they are made anew. */
const MADE_BY = ['./many-conversations.ts', './records.ts', '../../src/store/sqlite/migrations.ts'];

/** A copy of the data set, which is made with the first call: an assistant with 110,000 conversations of two messages each. */
export async function manyConversations(): Promise<ManyConversations> {
	const original = await made();
	const dataDir = await mkdtemp(join(tmpdir(), 'parley-bench-'));
	await cp(original, dataDir, { recursive: true, mode: constants.COPYFILE_FICLONE });
	const facts = JSON.parse(await readFile(join(dataDir, 'facts.json'), 'utf8'));
	return { dataDir, ...facts, [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) };
}

async function made(): Promise<string> {
	const hash = createHash('sha256');
	for (const file of MADE_BY) hash.update(await readFile(new URL(file, import.meta.url)));
	const folder = join(DATA, `${NAME}${hash.digest('hex').slice(0, 12)}`);
	if (existsSync(folder)) return folder;
	await removeStale();
	console.log(`Making ${COUNT.toLocaleString('en')} conversations, once …`);
	const unfinished = `${folder}.${process.pid}.tmp`;
	await mkdir(unfinished, { mode: 0o700 });
	const { key, ...owner } = await prepare(unfinished);
	const conversations = await fill(unfinished, owner);
	const facts = { key, assistant: owner.assistant_id, conversations };
	await writeFile(join(unfinished, 'facts.json'), JSON.stringify(facts));
	await rename(unfinished, folder);
	return folder;
}

/** Those that other code made, or that were not finished. */
async function removeStale(): Promise<void> {
	await mkdir(DATA, { recursive: true });
	for (const name of await readdir(DATA)) {
		if (name.startsWith(NAME)) await rm(join(DATA, name), { recursive: true, force: true });
	}
}

/** Has the server itself make what conversations belong to. */
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
		for (let at = 0; at < IN_A_COMMIT; at++) {
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
