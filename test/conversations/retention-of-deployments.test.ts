import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { ClockJumpDetector, createLog, newId } from '../../src/base/index.ts';
import { Conversations, Retention } from '../../src/conversations/index.ts';
import { createModels } from '../../src/models/index.ts';
import { Outbox } from '../../src/outbox/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore, type Write } from '../../src/store/index.ts';
import * as samples from '../store/samples.ts';
import { manualWallClock } from '../support/manual-clock.ts';

const dataDir = await mkdtemp(join(tmpdir(), 'parley-retention-'));
const store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
const log = createLog('silent');
const clock = manualWallClock();
const outbox = new Outbox(store);
const conversations = new Conversations({
	store,
	outbox,
	knowledge: { search: async () => ({ hits: [], confidence: 0 }) },
	tools: { functionsOf: async () => [] },
	models: createModels({ providers: [] }),
	clock,
	log,
	replyTimeoutMs: 60_000,
});
after(async () => {
	await conversations[Symbol.asyncDispose]();
	outbox[Symbol.dispose]();
	await store[Symbol.asyncDispose]();
	await rm(dataDir, { recursive: true, force: true });
});

const DAY = 24 * 3_600_000;

async function write(...writes: Write[]): Promise<void> {
	assert.equal((await store.commit({ write: writes })).outcome, 'committed');
}

/** A workspace with a deployment for each retention. Returns the ids. */
async function workspaceWith(retention_days: number | null, ofDeployments: readonly (number | null)[]) {
	const id = newId('workspace');
	const deployments = ofDeployments.map((days) => samples.deployment({ workspace_id: id, retention_days: days }));
	await write(
		{ op: 'insert', kind: 'workspaces', record: samples.workspace({ id, retention_days }) },
		...deployments.map((record) => ({ op: 'insert', kind: 'deployments', record }) as const),
	);
	return { id, deployments: deployments.map((deployment) => deployment.id) };
}

/** Stores conversations of a deployment, the last message of each so many days ago. */
async function conversationsOf(workspace_id: string, deployment_id: string, ages: readonly number[]) {
	const records = ages.map((days) => {
		const last_message_at = clock.now() - days * DAY;
		return samples.conversation({ workspace_id, deployment_id, created_at: last_message_at - 1_000, last_message_at });
	});
	await write(...records.map((record) => ({ op: 'insert', kind: 'conversations', record }) as const));
	return records.map(({ id }) => id);
}

const exist = (ids: readonly string[]) =>
	Promise.all(ids.map(async (id) => (await store.get('conversations', id)) !== undefined));

async function sweep(expire = conversations.expire.bind(conversations)): Promise<void> {
	await using retention = new Retention({
		store,
		conversations: { expire },
		jumpDetector: new ClockJumpDetector(clock),
		log,
	});
	await retention.sweep();
}

const setRetention = (id: string, retention_days: number | null) =>
	write({ op: 'patch', kind: 'deployments', id, set: { retention_days } });

test('the retention of a deployment replaces that of its workspace, shorter or longer', async () => {
	const { id, deployments } = await workspaceWith(10, [3, 30, null]);
	const ages = [2, 5, 12, 31];
	const [short, long, plain] = await Promise.all(deployments.map((at) => conversationsOf(id, at, ages)));
	await sweep();
	assert.deepEqual(await exist(short ?? []), [true, false, false, false]);
	assert.deepEqual(await exist(long ?? []), [true, true, true, false]);
	assert.deepEqual(await exist(plain ?? []), [true, true, false, false]);

	await setRetention(deployments[0] as string, null);
	await setRetention(deployments[1] as string, null);
	await sweep();
	assert.deepEqual(await exist(short ?? []), [true, false, false, false]);
	assert.deepEqual(await exist(long ?? []), [true, true, false, false], 'null follows the workspace again');
});

test('a workspace that keeps everything erases only in the deployments with an own retention', async () => {
	const { id, deployments } = await workspaceWith(null, [1, null]);
	const [own, plain] = await Promise.all(deployments.map((at) => conversationsOf(id, at, [0.5, 2, 400])));
	await sweep();
	assert.deepEqual(await exist(own ?? []), [true, false, false]);
	assert.deepEqual(await exist(plain ?? []), [true, true, true]);
});

test('every deployment and every batch of it is swept, however many there are', async () => {
	const { id, deployments } = await workspaceWith(
		null,
		Array.from({ length: 130 }, (_, at) => (at % 60 === 0 ? 1 : null)),
	);
	const chosen = [deployments[0], deployments[60], deployments[120], deployments[129]] as string[];
	const [first, middle, last, plain] = await Promise.all([
		conversationsOf(id, chosen[0] as string, Array(120).fill(2)),
		...chosen.slice(1).map((at) => conversationsOf(id, at, [2])),
	]);
	await sweep();
	assert.ok((await exist([...(first ?? []), ...(middle ?? []), ...(last ?? [])])).every((left) => !left));
	assert.deepEqual(await exist(plain ?? []), [true]);
});

test('a deployment whose retention is lengthened while a batch is erased loses nothing of it', async () => {
	for (const [before, changed] of [
		[1, 30],
		[null, 30],
		[1, null],
	] as const) {
		const { id, deployments } = await workspaceWith(before === null ? 1 : 30, [before]);
		const [at = ''] = deployments;
		const ids = await conversationsOf(id, at, [2, 3]);
		let change: Promise<void> | undefined;
		await sweep(async (...given) => {
			// After the batch was read, before any of it is erased.
			if (ids.includes(given[0])) change ??= setRetention(at, changed);
			await change;
			return conversations.expire(...given);
		});
		assert.ok(change);
		assert.deepEqual(await exist(ids), [true, true], `${before} to ${changed}`);
		await sweep();
		assert.deepEqual(await exist(ids), [true, true], `${before} to ${changed}, afterwards`);
	}
});
