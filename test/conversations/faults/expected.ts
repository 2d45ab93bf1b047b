import assert from 'node:assert/strict';
import type { ReceivedEvent } from '../../support/event-stream.ts';
import type { FaultScenario, Mode, ObservedReply, ShownMessageBody } from './fault-harness.ts';

/** A tool call as it is to be stored. */
export interface ExpectedCall {
	name: string;
	status: 'completed' | 'failed' | 'stopped';
	/** What its result is to match; null: there is none. */
	result: RegExp | null;
	/** Whether its failure is an event of the workspace. */
	told?: boolean;
}

/** A reply as it is to be stored, answered and told. */
export interface ExpectedReply {
	status: 'completed' | 'failed' | 'stopped';
	content: string;
	/** The whole sentence; of a reply that failed only. */
	error?: string;
	code?: string;
	usage: { input_tokens: number; output_tokens: number } | null;
	calls?: readonly ExpectedCall[];
	/** Number of rounds of calls that a repeated reply continues from. Default: one if it has calls. */
	rounds?: number;
	/** The text of these rounds. */
	kept?: string;
}

/** A reply that is written again after it has failed. It continues from the calls that were made. */
export function writtenAnew(
	text: string,
	{ calls = [], rounds = calls.length > 0 ? 1 : 0, kept = '' }: ExpectedReply,
): ExpectedReply {
	const content = kept === '' ? text : `${kept}\n\n${text}`;
	return { status: 'completed', content, usage: usageOf(rounds + 1), calls };
}

/** What the stand-in's answers cost, so many of them. */
export function usageOf(answers: number): { input_tokens: number; output_tokens: number } {
	return { input_tokens: 11 * answers, output_tokens: 7 * answers };
}

/** Holds a turn against what is expected of it, at every place where it can be seen. Gives the stored reply. */
export async function assertTurn(
	scene: FaultScenario,
	mode: Mode,
	content: string,
	answered: ObservedReply,
	expected: ExpectedReply,
): Promise<ShownMessageBody> {
	const messages = await scene.messages();
	assert.deepEqual(
		messages.map(({ role }) => role),
		['user', 'assistant'],
	);
	const [question, reply] = messages;
	assert.deepEqual([question.status, question.content, question.error], ['completed', content, null]);
	assertReply(reply, expected);
	if (mode === 'whole') assertWhole(answered, question, reply);
	else assertStreamed(answered.events, question, reply);
	await assertLogged(scene, question, [reply], expected);
	return reply;
}

/** A stored reply is what was expected, and has ended. */
export function assertReply(
	reply: ShownMessageBody,
	{ status, content, error, code, usage, calls = [] }: ExpectedReply,
): void {
	assert.equal(reply.status, status, JSON.stringify(reply.error));
	assert.equal(reply.content, content);
	assert.deepEqual(reply.error, error === undefined ? null : { code: code ?? 'model_error', message: error });
	assert.deepEqual(reply.usage, usage);
	assert.notEqual(reply.completed_at, null);
	assert.deepEqual(
		reply.tool_calls.map((call: ShownMessageBody) => [call.name, call.status]),
		calls.map((call) => [call.name, call.status]),
	);
	for (const [at, { result }] of calls.entries()) {
		const given = reply.tool_calls[at].result;
		if (result === null) assert.equal(given, null);
		else assert.match(given, result);
	}
	assert.equal(
		new Set(reply.tool_calls.map(({ id }: ShownMessageBody) => id)).size,
		calls.length,
		'each call has an id of its own',
	);
}

/** The answer of a request that was not streamed. */
export function assertWhole(
	{ status, body }: ObservedReply,
	question: ShownMessageBody,
	reply: ShownMessageBody,
): void {
	if (reply.status === 'failed') {
		assert.equal(status, 500);
		const { request_id, ...error } = body.error;
		assert.match(request_id, /./);
		assert.deepEqual([Object.keys(body), error], [['error'], { code: 'model_error', message: reply.error.message }]);
		return;
	}
	assert.equal(status, 201);
	const { user_message, ...answer } = body;
	assert.deepEqual([user_message, answer], [question, reply]);
}

/** The stream of a turn, from its question on. */
export function assertStreamed(
	events: readonly ReceivedEvent[],
	question: ShownMessageBody,
	reply: ShownMessageBody,
	opening = 'created',
): void {
	assert.equal(new Set(events.map(({ id }) => id)).size, events.length, 'no position is there twice');
	for (const { event, data } of events) assert.equal(data.type, event);
	const [asked, opened, ...rest] = events;
	assert.deepEqual([asked?.event, asked?.data.message], ['message.created', question]);
	assert.equal(opened?.event, `message.${opening}`);
	if (opening === 'created') {
		const { id, status, content, error, tool_calls } = opened?.data.message ?? {};
		assert.deepEqual([id, status, content, error, tool_calls], [reply.id, 'in_progress', '', null, []]);
	} else {
		assert.equal(opened?.data.message_id, reply.id);
	}
	const closing = rest.pop();
	assert.equal(closing?.event, reply.status === 'failed' ? 'message.failed' : 'message.completed');
	assert.deepEqual(closing?.data.message, reply, 'what is told last is what is stored');
	if (reply.status === 'failed') assert.deepEqual(closing?.data.error, reply.error);
	let text = '';
	for (const { event, data } of rest) {
		assert.equal(data.message_id, reply.id);
		if (event !== 'message.delta') continue;
		assert.equal(data.index, text.length);
		text += data.delta;
	}
	assert.equal(text, reply.content, 'the pieces make the text');
	assertCallsTold(rest, reply);
}

/** Each call has an event when it starts, and an event when it ends unless it was cut off. */
function assertCallsTold(events: readonly ReceivedEvent[], reply: ShownMessageBody): void {
	const told = (name: string) => events.filter(({ event }) => event === name).map(({ data }) => data.tool_call);
	const begun = (call: ShownMessageBody) => ({ ...call, status: 'running', result: null, duration_ms: null });
	const ended = reply.tool_calls.filter(({ status }: ShownMessageBody) => status !== 'stopped');
	const byId = (calls: ShownMessageBody[]) => calls.toSorted((a, b) => (a.id < b.id ? -1 : 1));
	assert.deepEqual(told('tool.started'), reply.tool_calls.map(begun));
	assert.deepEqual(byId(told('tool.completed')), byId(ended));
	const known = new Set(['message.delta', 'tool.started', 'tool.completed']);
	assert.deepEqual(
		events.filter(({ event }) => !known.has(event ?? '')),
		[],
	);
}

/**
 * The workspace's events of a conversation with one turn.
 * @param replies the reply each time that it ended
 */
export async function assertLogged(
	scene: FaultScenario,
	question: ShownMessageBody,
	replies: readonly ShownMessageBody[],
	{ calls = [] }: Pick<ExpectedReply, 'calls'> = {},
): Promise<void> {
	const all = await scene.harness.eventsOf(question.conversation_id);
	const log = all.filter(({ type }) => type !== 'conversation.updated' && type !== 'conversation.closed');
	const failures = log.filter(({ type }) => type === 'tool.execution_failed');
	assert.deepEqual(
		log.filter((event) => !failures.includes(event)).map(({ type, data }) => [type, data.id]),
		[
			['conversation.created', question.conversation_id],
			['message.created', question.id],
			...replies.map((reply) => ['message.created', reply.id]),
		],
	);
	assert.deepEqual(log[1]?.data, question);
	assert.deepEqual(
		log.filter(({ data }) => data.id === replies[0].id).map(({ data }) => data),
		replies,
	);
	const [reply] = replies;
	assert.deepEqual(
		failures.map(({ data }) => [data.tool_name, data.conversation_id, data.message_id]).toSorted(),
		calls
			.filter(({ told }) => told)
			.map(({ name }) => [name, question.conversation_id, reply.id])
			.toSorted(),
	);
}

/**
 * Checks what follows a turn: a repeat of its request writes a failed reply to the same question again, and returns any other reply.
 * The next message is answered.
 */
export async function assertGoesOn(
	scene: FaultScenario,
	mode: Mode,
	sent: { content: string; key: string },
	reply: ShownMessageBody,
	expected: ExpectedReply,
): Promise<void> {
	const { model } = scene;
	const before = model.calls.length;
	if (expected.status === 'failed') model.enqueue([{ say: 'Written anew.' }]);
	const repeated = await scene.send(mode, sent.content, { key: sent.key });
	const [question, stored, ...more] = await scene.messages();
	assert.deepEqual([more, stored.id], [[], reply.id], 'there is one question and one reply');
	if (expected.status === 'failed') {
		assertReply(stored, writtenAnew('Written anew.', expected));
		if (mode === 'whole') assertWhole(repeated, question, stored);
		else assertStreamed(repeated.events, question, stored, 'reset');
		assert.equal(model.calls.length, before + 1);
		await assertLogged(scene, question, [reply, stored], expected);
	} else {
		assert.deepEqual(stored, reply);
		if (mode === 'whole') assertWhole(repeated, question, stored);
		else
			assert.deepEqual(
				repeated.events.map(({ data }) => data.message),
				[question, stored],
			);
		assert.equal(model.calls.length, before, 'nobody is asked again');
	}
	model.enqueue([{ say: 'Yes.' }]);
	const next = await scene.send('whole', 'And now?', { conversation: question.conversation_id });
	assert.deepEqual([next.status, next.body?.content], [201, 'Yes.']);
	const last = model.calls.at(-1)?.body.messages ?? [];
	assert.ok(
		last.every(({ content }: ShownMessageBody) => content !== ''),
		'a model is told no empty messages',
	);
}
