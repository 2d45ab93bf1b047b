import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { AppError, createLog, newId, systemClock } from '../../src/base/index.ts';
import { Conversations } from '../../src/conversations/index.ts';
import { type ChatModel, createModels } from '../../src/models/index.ts';
import { Outbox } from '../../src/outbox/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import * as samples from '../store/samples.ts';
import { streamFrom } from '../support/model-events.ts';
import { requireRunningTurn } from './running-turn.ts';
import { scheduledStore } from './scheduled-store.ts';

const dataDir = await mkdtemp(join(tmpdir(), 'parley-changes-'));
const store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
after(async () => {
	await store[Symbol.asyncDispose]();
	await rm(dataDir, { recursive: true, force: true });
});

const assistant = samples.assistant({ model: 'paced/any' });
const deployment = { ...samples.deployment({ assistant_id: assistant.id }), version: 1 };
const workspace = { ...samples.workspace({ id: deployment.workspace_id }), version: 1 };
await store.commit({
	write: [
		{ op: 'insert', kind: 'workspaces', record: workspace },
		{ op: 'insert', kind: 'assistants', record: assistant },
		{ op: 'insert', kind: 'deployments', record: deployment },
	],
});

type Step =
	| { do: 'send'; fails: boolean }
	/** Repeats the n-th message that was sent so far. */
	| { do: 'repeat'; which: number }
	| { do: 'retitle' | 'archive' | 'reopen' | 'erase' | 'expire' | 'stop' };

const steps: fc.Arbitrary<Step[]> = fc.array(
	fc.oneof(
		{ weight: 4, arbitrary: fc.record({ do: fc.constant('send' as const), fails: fc.boolean() }) },
		{ weight: 4, arbitrary: fc.record({ do: fc.constant('repeat' as const), which: fc.nat(5) }) },
		{ weight: 4, arbitrary: fc.record({ do: fc.constantFrom('retitle', 'archive', 'reopen', 'stop') }) },
		{ weight: 1, arbitrary: fc.record({ do: fc.constantFrom('erase', 'expire') }) },
	),
	{ minLength: 1, maxLength: 12 },
) as fc.Arbitrary<Step[]>;

const EXPECTED = new Set(['not_found', 'conversation_archived']);

/** What an operation came to; a refusal that belongs to the state of the conversation is an outcome like any other. */
async function outcomeOf<T>(operation: Promise<T>): Promise<T | null> {
	try {
		return await operation;
	} catch (error) {
		if (error instanceof AppError && EXPECTED.has(error.code)) return null;
		throw error;
	}
}

test('whatever is interleaved with changes and repeats, each message is stored once and answered by one reply, or erased with all', {
	timeout: 60_000,
}, async () => {
	await fc.assert(
		fc.asyncProperty(fc.scheduler(), steps, async (scheduler, script) => {
			const pass = scheduler.scheduleFunction(async () => void (await nextTurn()));
			const chat: ChatModel = {
				stream: streamFrom(async function* ({ question }, signal) {
					await pass();
					signal.throwIfAborted();
					yield { type: 'delta', text: `To ${question}` };
					await pass();
					signal.throwIfAborted();
					if (question.startsWith('fails')) throw new AppError('model_error', 'It failed.');
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
			const signal = new AbortController().signal;
			const scope = newId('workspace');
			/** Messages that were stored: their content by their key. */
			const stored = new Map<string, string>();

			const send = async (content: string, conversation_id?: string) => {
				const receipt = { scope, key: content, body_hash: content, expires_at: 9e15, status: 201 };
				const message = { deployment, conversation_id, content, channel: 'api' as const, end_user: null };
				const sent = await outcomeOf(
					conversations.send({ ...message, metadata: undefined }, receipt).then(requireRunningTurn),
				);
				if (sent) stored.set(content, sent.reply.id);
				return sent;
			};
			const repeat = async (content: string): Promise<void> => {
				const answer = await store.idempotency.storedResponse({ scope, key: content, body_hash: '' });
				if (!answer?.pending) return;
				const turn = await outcomeOf(conversations.joinRepeat(answer.pending));
				if (!turn) return;
				assert.ok(!('messageForHuman' in turn));
				assert.equal(turn.question.content, content);
				const reply = 'finishedReply' in turn ? turn.finishedReply : await outcomeOf(conversations.reply(turn, signal));
				if (reply) assert.equal(reply.id, stored.get(content));
			};

			const first = await scheduler.waitFor(send('first'));
			const id = first?.reply.conversation_id as string;
			const versions = null;
			const workspaceId = deployment.workspace_id;
			const change = (patch: object) => outcomeOf(conversations.change(id, { workspaceId, versions, patch }));
			const run = async (step: Step, number: number): Promise<unknown> => {
				await pass();
				switch (step.do) {
					case 'send':
						return send(`${step.fails ? 'fails' : 'works'} ${number}`, id);
					case 'repeat':
						return repeat([...stored.keys()][step.which % stored.size] as string);
					case 'retitle':
						return change({ title: `Title ${number}` });
					case 'archive':
						return change({ status: 'archived' });
					case 'reopen':
						return change({ status: 'active' });
					case 'stop':
						return outcomeOf(conversations.stop(id));
					case 'erase':
						return outcomeOf(conversations.erase(id, { workspaceId, versions }));
					case 'expire':
						return conversations.expire(id, { workspace, deployment_version: 1, idleSince: Number.MAX_SAFE_INTEGER });
				}
			};
			await scheduler.waitFor(Promise.all(script.map(run)));
			// Whatever is being written ends.
			await scheduler.waitFor(conversations.drain(30_000));

			const conversation = await store.get('conversations', id);
			const messages = await store.list('messages', { where: { conversation_id: id }, order: 'asc', limit: 100 });
			if (!conversation) {
				assert.deepEqual([messages, await store.events.after(id, 0, 10)], [[], []]);
				assert.ok(script.some((step) => step.do === 'erase' || step.do === 'expire'));
				for (const key of stored.keys())
					assert.equal(await store.idempotency.storedResponse({ scope, key, body_hash: '' }), undefined);
				return;
			}
			assert.equal(conversation.message_count, messages.length);
			assert.equal(messages.length, stored.size * 2, 'each message is there once, with one reply');
			for (const [at, message] of messages.entries()) {
				assert.deepEqual([message.seq, message.role], [at + 1, at % 2 === 0 ? 'user' : 'assistant']);
				assert.notEqual(message.status, 'in_progress');
				if (message.role === 'user') assert.equal(messages[at + 1]?.id, stored.get(message.content));
			}
		}),
		{ numRuns: 60 },
	);
});
