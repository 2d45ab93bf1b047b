import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createApiFixture } from '../api/fixture.ts';
import { ORIGIN, startTestApp } from '../support/app.ts';
import type { ReceivedEvent } from '../support/event-stream.ts';
import { ManualModel } from './manual-model.ts';
import { ClientView, isNamed, openTestStream, type TestStream } from './streams.ts';

const model = new ManualModel({
	autoReply: ({ question }) => ['You ', 'said: ', question, '.'],
});
const app = await startTestApp({ overrides: { providers: [model.provider] } });
after(() => app[Symbol.asyncDispose]());

const OPERATORS = 150;
/** A visitor may have 100 streams open. */
const VISITORS = 100;
const MESSAGES = 5;
const LENGTH = 8_000;

/** What only operators see of a message. */
const OPERATORS_ONLY = ['model', 'usage', 'feedback_comment', 'answered_by', 'first_token_ms', 'duration_ms'];

/** The events up to the end of the last message. */
async function eventsOfMessages(stream: TestStream): Promise<ReceivedEvent[]> {
	const events: ReceivedEvent[] = [];
	for (let message = 0; message < MESSAGES; message++)
		events.push(...(await stream.until(isNamed('message.completed'))));
	return events.filter(({ event }) => event !== 'presence');
}

test('sends every event once and in order to hundreds of followers, to visitors without operator-only fields', async () => {
	const { deployment } = await createApiFixture(app, { model: 'scripted/any' });
	const begun = await app.callAsVisitor('POST', '/api/v1/widget/messages', {
		deployment_id: deployment,
		content: 'Hello',
	});
	assert.equal(begun.status, 201);
	const { conversation_id } = begun.body;
	const path = `/api/v1/conversations/${conversation_id}`;
	assert.equal((await app.call('POST', `${path}/takeover`)).status, 200);

	const asOperator = () =>
		openTestStream(`${app.url}${path}/events`, { headers: { authorization: `Bearer ${app.key}` } });
	const asVisitor = () =>
		openTestStream(`${app.url}/api/v1/widget/conversations/${conversation_id}/events?deployment_id=${deployment}`, {
			headers: { origin: ORIGIN },
		});
	const operators = await Promise.all(Array.from({ length: OPERATORS }, asOperator));
	const visitors = await Promise.all(Array.from({ length: VISITORS }, asVisitor));
	const streams = [...operators, ...visitors];

	const told = Promise.all(streams.map(eventsOfMessages));
	const contents = Array.from({ length: MESSAGES }, (_, at) => `${at} `.padEnd(LENGTH, 'ä'));
	for (const content of contents) assert.equal((await app.call('POST', `${path}/messages`, { content })).status, 201);
	const events = await told;
	const expected = contents.flatMap((content) => [`message.created ${content}`, `message.completed ${content}`]);
	const ids = events[0]?.map(({ id }) => id);
	assert.equal(new Set(ids).size, 2 * MESSAGES);
	for (const seen of events) {
		assert.deepEqual(
			seen.map(({ event, data }) => `${event} ${data.message.content}`),
			expected,
		);
		assert.deepEqual(
			seen.map(({ id }) => id),
			ids,
			'a position is the same for all',
		);
	}

	assert.equal((await app.call('POST', `${path}/release`)).status, 200);
	const replied = Promise.all(streams.map(async (stream) => [...(await stream.until(isNamed('message.completed')))]));
	const question = { deployment_id: deployment, conversation_id, content: 'What is ☕?' };
	const answer = await app.callAsVisitor('POST', '/api/v1/widget/messages', question);
	assert.equal(answer.status, 201);
	for (const [at, seen] of (await replied).entries()) {
		const screen = new ClientView().show(seen);
		assert.equal(screen.texts.get(answer.body.id), 'You said: What is ☕?.');
		for (const { data } of [...seen, ...(events[at] as ReceivedEvent[])]) {
			if (data.message === undefined) continue;
			const shown = OPERATORS_ONLY.filter((field) => field in data.message);
			assert.deepEqual(shown, at < OPERATORS ? OPERATORS_ONLY : []);
		}
	}
	for (const stream of streams) stream.disconnect();
});
