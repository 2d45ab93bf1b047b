import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { newId } from '../../src/base/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { type ConversationRecord, openSqliteStore, type Store } from '../../src/store/index.ts';
import { serveCommands } from '../load/load-process.ts';
import { conversationRecord, messageCommit } from './records.ts';

/** Commits through the store's face, in a process of its own: its main thread does nothing else. */
export interface CommitCommand {
	/** Where the database is, or is made: the same with every order. */
	dataDir: string;
	/** Each waits for its commit before the next. */
	committers: number;
	seconds: number;
}

export interface CommitsResult {
	perSecond: number;
	/** Milliseconds of this process's processor time, the writer thread included. */
	processorMsEach: number;
	/** Of the main thread's event loop, in milliseconds. */
	delayP99: number;
	delayMax: number;
	/** Milliseconds that this disk takes for writing 16 KiB alone, in the middle. */
	syncMs: number;
}

const RESOLUTION_MS = 1;
const SYNC_SAMPLES = 51;

let opened: Promise<Store> | undefined;

async function commitUntil(store: Store, conversation: ConversationRecord, endsAt: number): Promise<number> {
	let current = conversation;
	let count = 0;
	while (performance.now() < endsAt) {
		const { commit, next } = messageCommit(current);
		const { outcome } = await store.commit(commit);
		if (outcome !== 'committed') throw new Error(`A commit ended as ${outcome}.`);
		current = next;
		count++;
	}
	return count;
}

async function createConversations(store: Store, count: number): Promise<ConversationRecord[]> {
	const owner = {
		workspace_id: newId('workspace'),
		assistant_id: newId('assistant'),
		deployment_id: newId('deployment'),
	};
	const conversations = Array.from({ length: count }, () => conversationRecord(owner));
	await store.commit({ write: conversations.map((record) => ({ op: 'insert', kind: 'conversations', record })) });
	return conversations;
}

/** What the disk alone takes, for comparison: a commit is one write that is waited for. */
function syncMs(dataDir: string): number {
	const file = openSync(join(dataDir, 'sync'), 'w');
	const page = Buffer.alloc(16_384, 1);
	const times: number[] = [];
	for (let sample = 0; sample < SYNC_SAMPLES; sample++) {
		const startedAt = performance.now();
		writeSync(file, page);
		fdatasyncSync(file);
		times.push(performance.now() - startedAt);
	}
	closeSync(file);
	return times.sort((a, b) => a - b)[SYNC_SAMPLES >> 1] as number;
}

serveCommands(async ({ dataDir, committers, seconds }: CommitCommand): Promise<CommitsResult> => {
	opened ??= openSqliteStore({ dataDir, writer: workerEntry('store') });
	const store = await opened;
	const alone = syncMs(dataDir);
	const conversations = await createConversations(store, committers);
	const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
	delay.enable();
	const processorBefore = process.cpuUsage();
	const startedAt = performance.now();
	const counts = await Promise.all(conversations.map((one) => commitUntil(store, one, startedAt + seconds * 1000)));
	const tookMs = performance.now() - startedAt;
	const { user, system } = process.cpuUsage(processorBefore);
	delay.disable();
	const total = counts.reduce((sum, count) => sum + count, 0);
	const late = (ns: number) => Math.max(0, ns / 1e6 - RESOLUTION_MS);
	return {
		perSecond: total / (tookMs / 1000),
		processorMsEach: (user + system) / 1000 / total,
		delayP99: late(delay.percentile(99)),
		delayMax: late(delay.max),
		syncMs: alone,
	};
});
