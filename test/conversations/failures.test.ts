import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, createLog, type Deferred, deferred, systemClock } from '../../src/base/index.ts';
import type { Budget } from '../../src/contract/index.ts';
import { Conversations } from '../../src/conversations/index.ts';
import { createModels } from '../../src/models/index.ts';
import { Outbox } from '../../src/outbox/index.ts';
import type { Commit, Kind } from '../../src/store/index.ts';
import { openStoreDirectly } from '../api/direct-store.ts';
import { createApiFixture } from '../api/fixture.ts';
import { withOverrides } from '../store/overrides.ts';
import { startTestApp } from '../support/app.ts';
import { itemsOf } from '../support/pull-source.ts';
import { until } from '../support/until.ts';
import { ManualModel } from './manual-model.ts';
import { requireRunningTurn } from './running-turn.ts';
import { ClientView, follow, isNamed, sendStreamed } from './streams.ts';

const MESSAGES = '/api/v1/messages';
const deaf = new ManualModel({ ignoresAbort: true });
const app = await startTestApp({ overrides: { providers: [deaf.provider], replyTimeoutMs: 500 } });
after(() => app[Symbol.asyncDispose]());
const scene = await createApiFixture(app, { model: 'scripted/any' });
const { deployment } = scene;

test('ends the reply of a model that ignores its signal at the time limit', async () => {
	const asked = deaf.replies.length;
	await using stream = await sendStreamed(app, { deployment_id: deployment, content: 'Hang?' });
	(await deaf.reply(asked)).say('So far');
	const events = await stream.rest();
	const { message, error } = events.at(-1)?.data ?? {};
	assert.equal(events.at(-1)?.event, 'message.failed');
	assert.deepEqual([message.status, message.content, error.code], ['failed', 'So far', 'model_error']);
	assert.deepEqual(message.error, error);
});

test('stops the reply of a model that ignores its signal, and answers the next message', async () => {
	const asked = deaf.replies.length;
	await using stream = await sendStreamed(app, { deployment_id: deployment, content: 'Stop?' });
	const held = await deaf.reply(asked);
	held.say('Half');
	const [first] = await stream.until(isNamed('message.delta'));
	const conversation_id = first?.data.message.conversation_id;
	assert.equal((await app.call('POST', `/api/v1/conversations/${conversation_id}/stop`)).status, 200);
	held.say(' and what nobody wants any more');
	held.end();
	const { status, content } = (await stream.rest()).at(-1)?.data.message ?? {};
	assert.deepEqual([status, content], ['stopped', 'Half']);

	const next = app.call('POST', MESSAGES, { deployment_id: deployment, content: 'Next?', conversation_id });
	const answer = await deaf.reply(asked + 1);
	answer.say('Here.');
	answer.end();
	assert.equal((await next).body.content, 'Here.');
	assert.deepEqual(
		answer.request.history.map(({ content: said }) => said),
		['Stop?', 'Half'],
		'the model is told what the visitor saw',
	);
});

test('a failed reply is not in the model’s later history', async () => {
	const asked = deaf.replies.length;
	const failed = app.call('POST', MESSAGES, { deployment_id: deployment, content: 'Fail?' });
	(await deaf.reply(asked)).fail(new AppError('model_error', 'The provider is out of order.'));
	const { status, body } = await failed;
	assert.deepEqual([status, body.error.message], [500, 'The provider is out of order.']);
	const { body: list } = await app.call('GET', `/api/v1/conversations?deployment_id=${deployment}&limit=1`);
	const conversation_id = list.data[0].id;
	const next = app.call('POST', MESSAGES, { deployment_id: deployment, content: 'Again?', conversation_id });
	const held = await deaf.reply(asked + 1);
	held.say('Yes.');
	held.end();
	assert.equal((await next).status, 201);
	assert.deepEqual(held.request.history, [{ role: 'user', content: 'Fail?' }]);
});

test('a stop without a running reply changes nothing', async () => {
	const asked = deaf.replies.length;
	const sent = app.call('POST', MESSAGES, { deployment_id: deployment, content: 'Done?' });
	const held = await deaf.reply(asked);
	held.say('Done.');
	held.end();
	const { conversation_id } = (await sent).body;
	const path = `/api/v1/conversations/${conversation_id}`;
	const { body: before } = await app.call('GET', path);
	const stopped = await app.call('POST', `${path}/stop`);
	assert.deepEqual([stopped.status, stopped.body], [200, before]);
	const { body } = await app.call('GET', `${path}/messages`);
	assert.equal(body.data[1].status, 'completed');
});

test('a follower that connects after a reply has failed gets `message.failed` once', async () => {
	const asked = deaf.replies.length;
	await using stream = await sendStreamed(app, { deployment_id: deployment, content: 'Fail late?' });
	const held = await deaf.reply(asked);
	held.say('Half');
	const seen = await stream.until(isNamed('message.delta'));
	held.fail(new Error('broken'));
	await stream.rest();
	await using resumed = await follow(app, seen[0]?.data.message.conversation_id, seen.at(-1)?.id);
	const heard = await resumed.until(isNamed('message.failed'));
	assert.deepEqual(
		heard.map(({ event }) => event),
		['message.failed'],
	);
	const screen = new ClientView().show([...seen, ...heard]);
	assert.deepEqual([...screen.statuses.values()].at(-1), 'failed');
});

test('a reply whose end cannot be written to the disk at first is written again, and followers are told', async () => {
	await using store = await openStoreDirectly(app);
	const record = await store.get('deployments', deployment);
	assert.ok(record);
	let failures = 1;
	const commit = async (change: Commit) => {
		const closes = change.events?.some(({ type }) => type === 'message.completed');
		if (closes && failures-- > 0) throw new AppError('unavailable', 'The change could not be written.');
		return store.commit(change);
	};
	const shaky = new Proxy(store, {
		get(target, name) {
			if (name === 'commit') return commit;
			const value: unknown = Reflect.get(target, name);
			return typeof value === 'function' ? value.bind(target) : value;
		},
	});
	let times = 0;
	const model = new ManualModel({ autoReply: () => [`Written ${++times}.`] });
	using outbox = new Outbox(store);
	await using conversations = new Conversations({
		store: shaky,
		outbox,
		knowledge: { search: async () => ({ hits: [], confidence: 0 }) },
		tools: { functionsOf: async () => [] },
		models: createModels({ providers: [model.provider] }),
		clock: systemClock,
		log: createLog('silent'),
		replyTimeoutMs: 5_000,
	});
	const message = {
		deployment: record,
		conversation_id: undefined,
		content: 'Stored?',
		metadata: undefined,
		channel: 'api',
		end_user: null,
	} as const;
	const sent = requireRunningTurn(await conversations.send(message));
	const names: string[] = [];
	const leaving = new AbortController();
	for await (const { event } of itemsOf(conversations.followTurn(sent, { audience: 'api' }))) {
		names.push(event);
	}
	assert.deepEqual(
		names.filter((name) => name !== 'message.delta'),
		['message.created', 'message.created', 'message.reset', 'message.completed'],
	);
	const reply = await conversations.reply(sent, leaving.signal);
	assert.deepEqual([reply.status, reply.content], ['completed', 'Written 2.']);
});

test('asks the model while the question is written to disk, shows nothing before, and aborts the call if the commit fails', async () => {
	await using store = await openStoreDirectly(app);
	const record = await store.get('deployments', deployment);
	assert.ok(record);
	const writing: Deferred<'written' | 'refused'>[] = [];
	const committed: Commit[] = [];
	let isWritable = true;
	let budget: Budget | null = null;
	const slow = withOverrides(store, {
		get: async <K extends Kind>(kind: K, id: string) => {
			const found = await store.get(kind, id);
			return found && kind === 'deployments' ? { ...found, budget } : found;
		},
		isWritable: () => isWritable,
		commit: async (change: Commit) => {
			if (change.write?.some(({ op }) => op === 'insert')) {
				const disk = deferred<'written' | 'refused'>();
				writing.push(disk);
				if ((await disk.promise) === 'refused') throw new AppError('unavailable', 'The disk is full.');
			}
			committed.push(change);
			return store.commit(change);
		},
	});
	const model = new ManualModel({ price: { input: 1, output: 1, reserved_micros: 1 } });
	using outbox = new Outbox(store);
	await using conversations = new Conversations({
		store: slow,
		outbox,
		knowledge: { search: async () => ({ hits: [], confidence: 0 }) },
		tools: { functionsOf: async () => [] },
		models: createModels({ providers: [model.provider] }),
		clock: systemClock,
		log: createLog('silent'),
		replyTimeoutMs: 60_000,
	});
	const send = () =>
		conversations.send({
			deployment: record,
			conversation_id: undefined,
			content: 'Stored?',
			metadata: undefined,
			channel: 'api',
			end_user: null,
		});
	const lost = send();
	const lostReply = await model.reply(0);
	lostReply.say('Never shown.');
	lostReply.end();
	writing[0]?.resolve('refused');
	await assert.rejects(lost, { code: 'unavailable' });
	assert.equal(lostReply.signal.aborted, true);

	const kept = send();
	const keptReply = await model.reply(1);
	keptReply.say('Yes.');
	keptReply.end();
	await nextTurn();
	assert.deepEqual([writing.length, committed.length], [2, 0], 'the reply waits for its question');
	writing[1]?.resolve('written');
	const sent = requireRunningTurn(await kept);
	const { status, content } = await conversations.reply(sent, new AbortController().signal);
	assert.deepEqual([status, content, committed.length], ['completed', 'Yes.', 2]);
	assert.equal(model.replies.length, 2);

	isWritable = false;
	const failing = send();
	await until('the question is being written', () => writing.length === 3);
	await nextTurn();
	writing[2]?.resolve('refused');
	await assert.rejects(failing, { code: 'unavailable' });
	assert.equal(model.replies.length, 2, 'the model is not asked while writes fail');

	const recovered = send();
	await until('the question is being written', () => writing.length === 4);
	writing[3]?.resolve('written');
	await recovered;
	const lastReply = await model.reply(2);
	lastReply.say('Yes.');
	lastReply.end();

	isWritable = true;
	budget = { amount_micros: 1_000_000, period: 'day', at_limit: 'refuse' };
	const limited = send();
	await until('the question is being written', () => writing.length === 5);
	await nextTurn();
	writing[4]?.resolve('refused');
	await assert.rejects(limited, { code: 'unavailable' });
	assert.equal(model.replies.length, 3, 'with a budget the model is asked when its cost is reserved');
});
