import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { AppError, createLog, systemClock } from '../../src/base/index.ts';
import { type ConversationEvent, Conversations } from '../../src/conversations/index.ts';
import { type ChatModel, createModels } from '../../src/models/index.ts';
import { Outbox } from '../../src/outbox/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import * as samples from '../store/samples.ts';
import type { ReceivedEvent } from '../support/event-stream.ts';
import { streamFrom } from '../support/model-events.ts';
import { itemsOf } from '../support/pull-source.ts';
import { requireRunningTurn } from './running-turn.ts';
import { scheduledStore } from './scheduled-store.ts';
import { ClientView } from './streams.ts';

const dataDir = await mkdtemp(join(tmpdir(), 'parley-races-'));
const store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
after(async () => {
	await store[Symbol.asyncDispose]();
	await rm(dataDir, { recursive: true, force: true });
});

const assistant = samples.assistant({ model: 'paced/any' });
const deployment = { ...samples.deployment({ assistant_id: assistant.id }), version: 1 };
await store.commit({
	write: [
		{ op: 'insert', kind: 'assistants', record: assistant },
		{ op: 'insert', kind: 'deployments', record: deployment },
	],
});

type Step =
	| { do: 'send'; talk: number; pieces: number; fails: boolean }
	| { do: 'stop'; talk: number }
	| { do: 'follow'; talk: number; fromStart: boolean };

const talk = fc.nat(1);
const steps: fc.Arbitrary<Step[]> = fc.array(
	fc.oneof(
		{
			weight: 4,
			arbitrary: fc.record({
				do: fc.constant('send' as const),
				talk,
				pieces: fc.integer({ min: 1, max: 4 }),
				fails: fc.boolean(),
			}),
		},
		{ weight: 2, arbitrary: fc.record({ do: fc.constant('stop' as const), talk }) },
		{ weight: 2, arbitrary: fc.record({ do: fc.constant('follow' as const), talk, fromStart: fc.boolean() }) },
	),
	{ minLength: 1, maxLength: 10 },
);

/** The text that is written to a question, which says itself how it is to be answered. */
const pieceOf = (question: string, at: number) => `${question} – ${at}; `;

test('whatever is interleaved, each message gets its own reply, in turn, and every follower sees it whole', {
	timeout: 60_000,
}, async () => {
	await fc.assert(
		fc.asyncProperty(fc.scheduler(), steps, async (scheduler, script) => {
			// One turn of the event loop each, so that earlier text is published before more is written.
			const pass = scheduler.scheduleFunction(async () => void (await nextTurn()));
			const chat: ChatModel = {
				stream: streamFrom(async function* ({ question }, signal) {
					const [pieces, fails] = JSON.parse(question.split(' ')[1] as string) as [number, boolean];
					for (let at = 0; at < pieces; at++) {
						await pass();
						signal.throwIfAborted();
						yield { type: 'delta', text: pieceOf(question, at) };
					}
					await pass();
					signal.throwIfAborted();
					if (fails) throw new AppError('model_error', 'It failed.');
				}),
			};
			const paced = scheduledStore(store, scheduler);
			using outbox = new Outbox(paced);
			await using conversations = new Conversations({
				store: paced,
				outbox,
				knowledge: { search: async () => ({ hits: [], confidence: 0 }) },
				tools: { functionsOf: async () => [] },
				models: createModels({ providers: [{ id: 'paced', models: null, chat }] }),
				clock: systemClock,
				log: createLog('silent'),
				replyTimeoutMs: 60_000,
			});
			const over = new AbortController();
			const told = new Map<string, string>();

			const send = async (number: number, conversation_id: string | undefined, pieces: number, fails: boolean) => {
				const content = `${number}: ${JSON.stringify([pieces, fails])}`;
				const sent = await conversations
					.send({
						deployment,
						conversation_id,
						content,
						metadata: undefined,
						channel: 'api',
						end_user: null,
					})
					.then(requireRunningTurn);
				assert.equal(sent.question.content, content);
				const reply = await conversations.reply(sent, over.signal);
				const whole = Array.from({ length: pieces }, (_, at) => pieceOf(content, at)).join('');
				assert.ok(whole.startsWith(reply.content), 'the reply is the one to this message');
				if (reply.status !== 'stopped') assert.equal(reply.content, whole);
				if (reply.status !== 'stopped') assert.equal(reply.status, fails ? 'failed' : 'completed');
				told.set(sent.question.id, reply.id);
				return sent;
			};

			const first = await scheduler.waitFor(
				Promise.all([send(-1, undefined, 1, false), send(-2, undefined, 2, false)]),
			);
			const ids = first.map(({ reply }) => reply.conversation_id);
			const followers: Array<{ id: string; events: ReceivedEvent[]; last: Promise<void> }> = [];
			const watch = (at: number, fromStart: boolean) => {
				const id = ids[at] as string;
				const events: ReceivedEvent[] = [];
				const after = fromStart ? { seq: first[at]?.position as number, offset: 0 } : null;
				const stream = itemsOf(
					conversations.follow({ id, workspace_id: deployment.workspace_id }, { after, audience: 'api' }),
					over.signal,
				);
				followers.push({ id, events, last: record(stream, events) });
			};
			for (const at of ids.keys()) watch(at, true);
			const run = async (step: Step, number: number) => {
				await pass();
				const id = ids[step.talk] as string;
				if (step.do === 'send') await send(number, id, step.pieces, step.fails);
				else if (step.do === 'stop') await conversations.stop(id);
				else watch(step.talk, step.fromStart);
			};
			await scheduler.waitFor(Promise.all(script.map(run)));
			// One more turn each: a follower that has seen its end has seen everything before.
			await scheduler.waitFor(Promise.all(ids.map((id, at) => send(LAST + at, id, 1, false))));
			await scheduler.waitFor(Promise.all(followers.map(({ last }) => last)));
			over.abort();

			for (const id of ids) {
				const messages = await store.list('messages', { where: { conversation_id: id }, order: 'asc', limit: 100 });
				for (const [at, message] of messages.entries()) {
					assert.equal(message.seq, at + 1);
					assert.equal(message.role, at % 2 === 0 ? 'user' : 'assistant');
					assert.notEqual(message.status, 'in_progress');
					if (message.role === 'user') assert.equal(told.get(message.id), messages[at + 1]?.id);
				}
				assert.equal((await store.get('conversations', id))?.message_count, messages.length);
				const stored = new Map(messages.map(({ id: message, content }) => [message, content]));
				for (const { events } of followers.filter((follower) => follower.id === id)) {
					for (const [message, text] of new ClientView().show(events).texts) assert.equal(text, stored.get(message));
					const positions = events.map(({ id: position }) => position);
					assert.equal(new Set(positions).size, positions.length, 'no event is told twice');
				}
			}
		}),
		{ numRuns: 40 },
	);
});

const LAST = 1000;

/** Collects a follower's events, and resolves at the end of a last turn. */
async function record(stream: AsyncGenerator<ConversationEvent>, events: ReceivedEvent[]): Promise<void> {
	for await (const { id, event, data } of stream) {
		events.push({ id, event, data: JSON.parse(data) });
		if (event === 'message.completed' && new RegExp(`^${LAST / 10}\\d:`).test(JSON.parse(data).message.content)) return;
	}
}
