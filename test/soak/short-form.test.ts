// Own process: it starts a server and waits until it is as it was.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from '../../bench/load/deploy.ts';
import { heldBy } from '../support/held-by-server.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { until } from '../support/until.ts';
import { MODEL_FAULT_NAMES, type Soak, startSoak } from './soak.ts';

/** The short form of `npm run soak`. How memory and latencies change is not compared: that takes longer, on an idle machine. */
const SIZES = { conversations: 8, documents: 2, killEveryMs: 2_000 };
const SEED = 3;
/** More calls of the model fail than in the long form, so that each fault occurs. */
const FAULT_RATE = 0.3;
const MIN_MS = 15_000;
/** What must have happened at least once. */
const FAULTS = [
	...MODEL_FAULT_NAMES,
	...[
		'message left',
		'follow left',
		'crowd 429 conversation_busy',
		'worker killed',
		'erase 200',
		'document deleted 200',
	],
];

test('a server that was used with faults has answered everything, and holds no more than before', {
	skip: process.platform === 'linux' ? false : 'this system has no /proc',
}, async (t) => {
	await using soak = await startSoak({ seed: SEED, faultRate: FAULT_RATE, sizes: SIZES });
	const { server, workload } = soak;
	await workload.warmUp();
	const before = await heldBy(server);

	await useUntilAllFaultsOccurred(soak);
	t.diagnostic(JSON.stringify({ ...workload.counts, ...soak.faults }));
	assert.deepEqual(workload.wrongAnswers(), []);
	const { begun, answered, left } = workload.requests;
	assert.equal(answered + left, begun, 'each request was answered, or its client left');
	for (const { id } of await listAll(server, '/api/v1/conversations'))
		await until('each message has its reply', () => isAnswered(server, id));

	let last = '';
	const isAsBefore = async () => {
		// The actor of a conversation that exists stays in memory for minutes.
		await eraseConversations(server);
		const now = await heldBy(server);
		last = JSON.stringify({ before, now });
		return (
			now.streams === 0 &&
			now.waiting === 0 &&
			now.actors <= before.actors &&
			now.descriptors <= before.descriptors &&
			now.threads <= before.threads
		);
	};
	await until('everything is released', isAsBefore).catch((cause) => assert.fail(`${cause.message} ${last}`));
	t.diagnostic(last);
});

/** Uses the server for a moment, and until each fault has occurred. */
async function useUntilAllFaultsOccurred({ workload, faults }: Soak): Promise<void> {
	const over = new AbortController();
	const run = workload.run(over.signal);
	const missing = () => FAULTS.filter((name) => !(name in faults) && !(name in workload.counts));
	try {
		await Promise.race([run, sleep(MIN_MS)]);
		await until('each fault has occurred', () => missing().length === 0).catch((cause) =>
			assert.fail(`${cause.message} Missing: ${missing().join(', ')}. ${JSON.stringify(workload.counts)}`),
		);
	} finally {
		over.abort();
		await run;
	}
}

/** Whether each message of a conversation's user has a reply that has ended. */
async function isAnswered(server: ServerProcess, id: string): Promise<boolean> {
	const messages = await listAll(server, `/api/v1/conversations/${id}/messages`);
	const of = (role: string) => messages.filter((message) => message.role === role);
	return (
		of('user').length === of('assistant').length && of('assistant').every(({ status }) => status !== 'in_progress')
	);
}

async function eraseConversations(server: ServerProcess): Promise<void> {
	for (const { id } of await listAll(server, '/api/v1/conversations'))
		await call(server, 'DELETE', `/api/v1/conversations/${id}?purge=true`);
}

// biome-ignore lint/suspicious/noExplicitAny: records of several kinds
async function listAll(server: ServerProcess, path: string): Promise<any[]> {
	const records = [];
	let cursor: string | null = null;
	do {
		const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
		const page = await call(server, 'GET', `${path}?limit=100${more}`);
		records.push(...page.data);
		cursor = page.next_cursor;
	} while (cursor !== null);
	return records;
}
