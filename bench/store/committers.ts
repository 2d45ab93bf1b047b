import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { newId } from '../../src/base/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { type ConversationRecord, openSqliteStore, type Store } from '../../src/store/index.ts';
import { serveCommands } from '../load/load-process.ts';
import { conversationRecord, messageCommit } from './records.ts';

/** Commits through the store's entry point, in a separate process whose main thread does nothing else. */
export interface CommitCommand {
	/** The database's folder, the same in every command. */
	dataDir: string;
	/** Number of committers. Each waits for its commit before the next. */
	committers: number;
	seconds: number;
}

export interface CommitsResult {
	perSecond: number;
	/** Milliseconds of this process's processor time, the writer thread included. */
	processorMsEach: number;
	/** Delay of the main thread's event loop (ms). */
	delayP99: number;
	delayMax: number;
	/** Median time of this disk to write and sync 16 KiB alone (ms). */
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

/** Measures the disk alone, for comparison: a commit waits for one write. */
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
