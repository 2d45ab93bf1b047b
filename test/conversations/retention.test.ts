import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { AppError, type Clock, ClockJumpDetector, createLog, newId } from '../../src/base/index.ts';
import { Conversations, Retention } from '../../src/conversations/index.ts';
import { createModels } from '../../src/models/index.ts';
import { Outbox } from '../../src/outbox/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { CONVERSATION_ERASURE_JOB, openSqliteStore, type Store, type Write } from '../../src/store/index.ts';
import * as samples from '../store/samples.ts';
import { ManualClock, manualWallClock } from '../support/manual-clock.ts';
import { until } from '../support/until.ts';
import { ManualModel } from './manual-model.ts';
import { requireRunningTurn } from './running-turn.ts';

const dataDir = await mkdtemp(join(tmpdir(), 'parley-retention-'));
const store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
after(async () => {
	await store[Symbol.asyncDispose]();
	await rm(dataDir, { recursive: true, force: true });
});

const log = createLog('silent');
const DAY = 24 * 3_600_000;
const never = new AbortController().signal;

/** Conversations over the store that all tests share, and what keeps them for only so long. */
function room({
	answer,
	clock = manualWallClock(),
}: {
	answer?: string;
	clock?: ReturnType<typeof manualWallClock> & Clock;
} = {}) {
	const held = new ManualModel(answer === undefined ? {} : { autoReply: () => [answer] });
	const outbox = new Outbox(store);
	const conversations = new Conversations({
		store,
		outbox,
		knowledge: { search: async () => ({ hits: [], confidence: 0 }) },
		tools: { functionsOf: async () => [] },
		models: createModels({ providers: [held.provider] }),
		clock,
		log,
		replyTimeoutMs: 60_000,
	});
	const retentionWith = (more: object = {}) =>
		new Retention({ store, conversations, jumpDetector: new ClockJumpDetector(clock), log, ...more });
	return {
		clock,
		held,
		conversations,
		retentionWith,
		async look() {
			await using retention = retentionWith();
			await retention.sweep();
		},
		async [Symbol.asyncDispose]() {
			await conversations[Symbol.asyncDispose]();
			outbox[Symbol.dispose]();
		},
	};
}

/** A workspace that keeps conversations for so many days, with a deployment. */
async function workspaceOf(retention_days: number | null) {
	const id = newId('workspace');
	const assistant = samples.assistant({ workspace_id: id, model: 'scripted/any' });
	const deployment = samples.deployment({ workspace_id: id, assistant_id: assistant.id });
	await write(
		{ op: 'insert', kind: 'workspaces', record: samples.workspace({ id, retention_days }) },
		{ op: 'insert', kind: 'assistants', record: assistant },
		{ op: 'insert', kind: 'deployments', record: deployment },
	);
	return { id, deployment: { ...deployment, version: 1 } };
}

async function write(...writes: Write[]): Promise<void> {
	assert.equal((await store.commit({ write: writes })).outcome, 'committed');
}

/** Stores conversations in which something was said last at a time. */
async function spoken(workspace_id: string, times: readonly number[], more: object = {}): Promise<string[]> {
	const records = times.map((last_message_at) =>
		samples.conversation({ workspace_id, created_at: 1, last_message_at, ...more }),
	);
	await write(...records.map((record) => ({ op: 'insert', kind: 'conversations', record }) as const));
	return records.map(({ id }) => id);
}

async function left(ids: readonly string[]): Promise<boolean[]> {
	return Promise.all(ids.map(async (id) => (await store.get('conversations', id)) !== undefined));
}

/** What each batch of a workspace was made of. */
function counting(conversations: Pick<Conversations, 'expire'>, workspaceId: string) {
	const batches: string[][] = [];
	let inHand = 0;
	return {
		batches,
		async expire(...[id, expiry]: Parameters<Conversations['expire']>) {
			if (expiry.workspace.id !== workspaceId) return conversations.expire(id, expiry);
			if (inHand++ === 0) batches.push([]);
			batches.at(-1)?.push(id);
			try {
				return await conversations.expire(id, expiry);
			} finally {
				inHand--;
			}
		},
	};
}

test('erases a conversation once it is idle for longer than the retention, and not before', async () => {
	await using here = room({ answer: 'Yes.' });
	const { deployment } = await workspaceOf(30);
	const forever = await workspaceOf(null);
	const longer = await workspaceOf(31);
	const ids: string[] = [];
	for (const at of [deployment, forever.deployment, longer.deployment]) {
		const sent = await here.conversations
			.send({
				deployment: at,
				conversation_id: undefined,
				content: 'Hello?',
				metadata: undefined,
				channel: 'api',
				end_user: null,
			})
			.then(requireRunningTurn);
		await here.conversations.reply(sent, never);
		ids.push(sent.reply.conversation_id);
	}
	const reply = (
		await store.list('messages', { where: { conversation_id: ids[0] as string }, order: 'asc', limit: 9 })
	)[1];
	here.clock.advance(30 * DAY);
	await here.look();
	assert.deepEqual(await left(ids), [true, true, true], 'thirty days are not more than thirty days');
	here.clock.advance(1);
	await here.look();
	assert.deepEqual(await left(ids), [false, true, true]);
	const [gone = ''] = ids;
	assert.equal(await store.get('messages', reply?.id ?? assert.fail()), undefined);
	assert.deepEqual(await store.events.after(gone, 0, 10), []);
	const told = await store.events.after(deployment.workspace_id, 0, 100);
	assert.deepEqual(told, [], 'as after a purge, the log tells nothing of it');
});

test('it counts when something was said last; where nothing was, when the conversation began; who answers is all the same', async () => {
	await using here = room();
	const { id } = await workspaceOf(10);
	const over = here.clock.now() - 10 * DAY - 1;
	const recent = here.clock.now() - 10 * DAY;
	const gone = [
		...(await spoken(id, [over, over - 5 * DAY], { updated_at: here.clock.now() })),
		...(await spoken(id, [over], { handled_by: 'human' })),
		...(await spoken(id, [over], { status: 'archived', archived_at: here.clock.now() })),
	];
	const kept = await spoken(id, [recent, here.clock.now()]);
	const silent = [over, recent].map((created_at) => samples.conversation({ workspace_id: id, created_at }));
	await write(...silent.map((record) => ({ op: 'insert', kind: 'conversations', record }) as const));
	await here.look();
	assert.deepEqual(await left(gone), [false, false, false, false]);
	assert.deepEqual(await left(kept), [true, true]);
	assert.deepEqual(await left(silent.map((record) => record.id)), [false, true]);
});

test('erases in batches that are bounded in conversations and messages', async () => {
	await using here = room();
	const { id } = await workspaceOf(1);
	const short = await spoken(
		id,
		Array.from({ length: 120 }, (_, at) => 1_000 + at),
		{ message_count: 2 },
	);
	const long = await spoken(id, [2_000, 2_001, 2_002, 2_003], { message_count: 400 });
	const endless = await spoken(id, [3_000, 3_001], { message_count: 100_000 });
	const counted = counting(here.conversations, id);
	await using retention = here.retentionWith({ conversations: counted });
	await Promise.all([retention.sweep(), retention.sweep()]);
	assert.deepEqual(
		counted.batches.map(({ length }) => length),
		[50, 50, 22, 2, 1, 1],
	);
	assert.deepEqual(counted.batches.flat(), [...short, ...long, ...endless], 'the longest idle first, each once');
	assert.ok((await left(counted.batches.flat())).every((there) => !there));
});

test('a sweep that is stopped between two batches is completed by the next, which repeats nothing', async () => {
	await using here = room();
	const { id } = await workspaceOf(1);
	const ids = await spoken(
		id,
		Array.from({ length: 130 }, (_, at) => 1_000 + at),
	);
	const first = counting(here.conversations, id);
	const cut = here.retentionWith({
		conversations: {
			async expire(...given: Parameters<Conversations['expire']>) {
				const end = await first.expire(...given);
				if (first.batches.length > 0) cut.stop();
				return end;
			},
		},
	});
	await cut.sweep();
	await cut[Symbol.asyncDispose]();
	assert.deepEqual(first.batches.flat(), ids.slice(0, 50));
	const second = counting(here.conversations, id);
	await using retention = here.retentionWith({ conversations: second });
	await retention.sweep();
	assert.deepEqual(second.batches.flat(), ids.slice(50));
	assert.ok((await left(ids)).every((there) => !there));
});

test('a retention that is lengthened or lifted while a batch is erased spares what is left of it', async () => {
	for (const retention_days of [36_500, null]) {
		await using here = room();
		const { id } = await workspaceOf(1);
		const ids = await spoken(
			id,
			Array.from({ length: 60 }, (_, at) => 1_000 + at),
		);
		let changed: Promise<void> | undefined;
		await using retention = here.retentionWith({
			conversations: {
				async expire(...given: Parameters<Conversations['expire']>) {
					// After the batch was chosen, before anything of it is written.
					changed ??= write({ op: 'patch', kind: 'workspaces', id, set: { retention_days } });
					await changed;
					return here.conversations.expire(...given);
				},
			},
		});
		await retention.sweep();
		assert.ok(changed);
		assert.ok((await left(ids)).every((there) => there));
	}
});

test('another change of the workspace meanwhile only puts the batch off', async () => {
	await using here = room();
	const { id } = await workspaceOf(1);
	const ids = await spoken(id, [1_000, 1_001]);
	let renamed: Promise<void> | undefined;
	await using retention = here.retentionWith({
		conversations: {
			async expire(...given: Parameters<Conversations['expire']>) {
				renamed ??= write({ op: 'patch', kind: 'workspaces', id, set: { name: 'Renamed' } });
				await renamed;
				return here.conversations.expire(...given);
			},
		},
	});
	await retention.sweep();
	assert.deepEqual(await left(ids), [true, true]);
	await retention.sweep();
	assert.deepEqual(await left(ids), [false, false]);
});

test('a conversation in which a reply is being written, or a message has just come, is kept', async () => {
	await using here = room();
	const { deployment, id: workspace_id } = await workspaceOf(1);
	const send = (content: string, conversation_id?: string) =>
		here.conversations
			.send({ deployment, conversation_id, content, metadata: undefined, channel: 'api', end_user: null })
			.then(requireRunningTurn);
	const sent = await send('Wait?');
	const id = sent.reply.conversation_id;
	const first = await here.held.reply(0);
	here.clock.advance(2 * DAY);
	await here.look();
	first.say('Here I am.');
	first.end();
	assert.equal((await here.conversations.reply(sent, never)).content, 'Here I am.');
	await here.look();
	assert.deepEqual(await left([id]), [true], 'the reply has only now ended');

	here.clock.advance(2 * DAY);
	const workspace = await store.get('workspaces', workspace_id);
	const idleSince = here.clock.now() - DAY;
	const expiry = { workspace: workspace ?? assert.fail(), deployment_version: 1, idleSince };
	// The message is on its way: it is heard first.
	const coming = send('Still there?', id);
	await until('the message is in hand', () => here.held.replies.length === 2);
	const expiring = here.conversations.expire(id, expiry);
	const second = await here.held.reply(1);
	second.say('Yes.');
	second.end();
	assert.equal(await expiring, false);
	assert.equal((await here.conversations.reply(await coming, never)).content, 'Yes.');

	here.clock.advance(2 * DAY);
	await here.look();
	assert.deepEqual(await left([id]), [false]);
	await assert.rejects(send('And now?', id), { code: 'not_found' });
});

test('a reply that a crash cut off is finished, however long ago that was', async () => {
	await using here = room({ answer: 'Late, but here.' });
	const { deployment, id: workspace_id } = await workspaceOf(1);
	const record = samples.conversation({
		workspace_id,
		deployment_id: deployment.id,
		assistant_id: deployment.assistant_id,
		created_at: 1_000,
		last_message_at: 1_000,
		message_count: 2,
	});
	const place = { workspace_id, conversation_id: record.id };
	const reply = samples.message({
		...place,
		seq: 2,
		status: 'in_progress',
		content: '',
		completed_at: null,
		model: 'scripted/any',
	});
	await write(
		{ op: 'insert', kind: 'conversations', record },
		{ op: 'insert', kind: 'messages', record: samples.message({ ...place, role: 'user', content: 'Hello?' }) },
		{ op: 'insert', kind: 'messages', record: reply },
	);
	await here.look();
	assert.deepEqual(await left([record.id]), [true]);
	await here.conversations.start();
	await until('the reply is finished', async () => (await store.get('messages', reply.id))?.content !== '');
	await here.look();
	assert.deepEqual(await left([record.id]), [true]);
});

test('a conversation that cannot be erased delays neither other conversations nor other workspaces', async () => {
	await using here = room();
	const bad = await workspaceOf(1);
	const good = await workspaceOf(1);
	const [stuck, ...others] = await spoken(bad.id, [1_000, 1_001, 1_002]);
	const elsewhere = await spoken(good.id, [1_000]);
	const alone = await workspaceOf(1);
	const [lonely = ''] = await spoken(alone.id, [1_000]);
	const asked: string[] = [];
	await using retention = here.retentionWith({
		conversations: {
			async expire(...given: Parameters<Conversations['expire']>) {
				asked.push(given[0]);
				if (given[0] === stuck || given[0] === lonely) throw new AppError('unavailable');
				return here.conversations.expire(...given);
			},
		},
	});
	await retention.sweep();
	assert.deepEqual(await left([stuck as string, lonely, ...others, ...elsewhere]), [true, true, false, false, false]);
	assert.equal(asked.filter((id) => id === stuck || id === lonely).length, 2, 'tried once in a look');
	await here.look();
	assert.deepEqual(await left([stuck as string, lonely]), [false, false], 'and again in the next');
});

test('every workspace is looked at, however many there are', async () => {
	await using here = room();
	const ids = Array.from({ length: 230 }, () => newId('workspace'));
	await write(
		...ids.map((id) => {
			const record = samples.workspace({ id, retention_days: null, created_at: 7 });
			return { op: 'insert', kind: 'workspaces', record } as const;
		}),
	);
	const chosen = [ids[0], ids[115], ids[229]] as string[];
	const old: string[] = [];
	for (const id of chosen) {
		await write({ op: 'patch', kind: 'workspaces', id, set: { retention_days: 3 } });
		old.push(...(await spoken(id, [1_000])));
	}
	await here.look();
	assert.deepEqual(await left(old), [false, false, false]);
});

test('memory of an erased conversation is given back at once', async () => {
	const gets: string[] = [];
	const watched = new Proxy(store, {
		get(target, name) {
			const value: unknown = Reflect.get(target, name);
			if (name === 'get') {
				return (kind: 'conversations', id: string) => {
					if (kind === 'conversations') gets.push(id);
					return target.get(kind, id);
				};
			}
			return typeof value === 'function' ? value.bind(target) : value;
		},
	}) as Store;
	await using here = room();
	using outbox = new Outbox(watched);
	await using conversations = new Conversations({
		store: watched,
		outbox,
		knowledge: { search: async () => ({ hits: [], confidence: 0 }) },
		tools: { functionsOf: async () => [] },
		models: createModels({ providers: [] }),
		clock: here.clock,
		log,
		replyTimeoutMs: 60_000,
	});
	const { id } = await workspaceOf(1);
	const [one = ''] = await spoken(id, [1_000]);
	const workspace = (await store.get('workspaces', id)) ?? assert.fail();
	const expiry = { workspace, deployment_version: 0, idleSince: 2_000 };
	assert.equal(await conversations.expire(one, expiry), true);
	assert.equal(await conversations.expire(one, expiry), false);
	assert.deepEqual(gets, [one, one], 'the second had to look it up: nothing was kept of it');
});

test('what remains of a conversation whose erasure broke off is erased by the next look', async () => {
	await using scene = room();
	const conversation = samples.conversation();
	const messages = [1, 2, 3].map((seq) => samples.message({ conversation_id: conversation.id, seq }));
	await write(
		{ op: 'insert', kind: 'conversations', record: conversation },
		...messages.map((record) => ({ op: 'insert', kind: 'messages', record }) as const),
	);
	await write({ op: 'erase_conversation', id: conversation.id, limit: 1 });
	assert.equal(await store.conversations.hasUnerasedRows(conversation.id), true);
	await scene.look();
	assert.equal(await store.conversations.hasUnerasedRows(conversation.id), false);
	assert.deepEqual(await store.jobs.claim(CONVERSATION_ERASURE_JOB, 10, 0), []);
});

test('a clock that is 45 days ahead for a moment erases no conversation', async () => {
	const time = new ManualClock(Date.now());
	const clock = {
		now: () => time.now(),
		monotonicNow: () => time.monotonicNow(),
		advance: (ms: number) => time.advance(ms),
	};
	await using here = room({ clock });
	await using retention = here.retentionWith();
	const { id } = await workspaceOf(30);
	const [kept, over] = await spoken(id, [clock.now() - 20 * DAY, clock.now() - 29 * DAY]);
	const present = async (one: string | undefined) => (await store.get('conversations', one as string)) !== undefined;
	time.adjust(45 * DAY);
	await retention.sweep();
	assert.deepEqual([await present(kept), await present(over)], [true, true], 'while it is ahead');
	time.adjust(-45 * DAY);
	await retention.sweep();
	assert.deepEqual([await present(kept), await present(over)], [true, true], 'when it is right again');
	time.advance(2 * DAY);
	await retention.sweep();
	assert.deepEqual([await present(kept), await present(over)], [true, false], 'what is over by the true time');
});
