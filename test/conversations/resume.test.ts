import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { createApiFixture } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';
import type { ReceivedEvent } from '../support/event-stream.ts';
import { ManualModel } from './manual-model.ts';
import { ClientView, follow, isNamed, openTestStream, sendStreamed } from './streams.ts';

const model = new ManualModel({
	autoReply: ({ question }) => (question.startsWith('Wait') ? undefined : ['You said: ', question, ', ', 'did you?']),
});
const app = await startTestApp({ overrides: { providers: [model.provider] } });
after(() => app[Symbol.asyncDispose]());
const { deployment } = await createApiFixture(app, { model: 'scripted/any' });

/** Says something in a conversation and gives the whole stream of its reply. */
async function say(content: string, conversation_id?: string): Promise<ReceivedEvent[]> {
	await using stream = await sendStreamed(app, { deployment_id: deployment, content, conversation_id });
	return await stream.rest();
}

/** A conversation with two finished turns, and all that its streams told. */
async function twoTurns(): Promise<{ id: string; recorded: ReceivedEvent[] }> {
	const first = await say('One 🙂');
	const id = first[0]?.data.message.conversation_id;
	return { id, recorded: [...first, ...(await say('Two 👩‍👩‍👧', id))] };
}

test('a client that resumes after any event shows the same, and finished replies come whole', async () => {
	const { id, recorded } = await twoTurns();
	const shown = new ClientView().show(recorded);
	assert.ok(recorded.length > 6);
	for (const [at, { id: position }] of recorded.entries()) {
		const missing = recorded.slice(at + 1).some(isNamed('message.completed'));
		await using resumed = await follow(app, id, position);
		const ends = recorded.slice(at + 1).filter(isNamed('message.completed')).length;
		const rest: ReceivedEvent[] = [];
		for (let seen = 0; seen < ends; seen++) rest.push(...(await resumed.until(isNamed('message.completed'))));
		assert.equal(rest.length > 0, missing);
		assert.deepEqual(rest.filter(isNamed('message.delta')), [], 'a finished reply is not told in pieces');
		const screen = new ClientView().show([...recorded.slice(0, at + 1), ...rest]);
		assert.deepEqual([...screen.texts], [...shown.texts], `after event ${at}`);
		assert.deepEqual([...screen.statuses], [...shown.statuses]);
		const told = rest.map((event) => [event.event, event.data.message.id]);
		assert.equal(new Set(told.map(String)).size, told.length, 'nothing is told twice');
	}
});

test('new events follow missed ones on the same stream', async () => {
	const { id, recorded } = await twoTurns();
	await using resumed = await follow(app, id, recorded.at(-1)?.id);
	const third = await say('Three', id);
	const heard = await resumed.until(isNamed('message.completed'));
	assert.deepEqual(
		heard.filter(({ event }) => event !== 'message.delta'),
		third.filter(({ event }) => event !== 'message.delta'),
	);
	const reply = third.at(-1)?.data.message;
	assert.equal(new ClientView().show(heard.slice(0, -1)).texts.get(reply.id), reply.content);
});

test('without a position a follower gets no past events', async () => {
	const { id } = await twoTurns();
	await using live = await follow(app, id);
	const third = await say('Three', id);
	const heard = await live.until(isNamed('message.completed'));
	assert.equal(heard[0]?.data.message.content, 'Three');
	assert.deepEqual(heard.at(-1), third.at(-1));
});

test('takes the position from the header, else from the query', async () => {
	const { id, recorded } = await twoTurns();
	const first = recorded[0]?.id;
	const path = `${app.url}/api/v1/conversations/${id}/events`;
	const authorization = `Bearer ${app.key}`;
	await using byQuery = await openTestStream(`${path}?last_event_id=${first}`, { headers: { authorization } });
	assert.equal((await byQuery.until(isNamed('message.completed'))).at(-1)?.data.message.content.includes('One'), true);
	const beforeLast = recorded.findLast(isNamed('message.created'))?.id ?? '';
	await using byHeader = await openTestStream(`${path}?last_event_id=${first}`, {
		headers: { authorization, 'last-event-id': beforeLast },
	});
	const heard = await byHeader.until(isNamed('message.completed'));
	assert.deepEqual(
		heard.map(({ event, data }) => [event, data.message.content.includes('Two')]),
		[['message.completed', true]],
	);
});

test('a position that this server never gave out is refused, or nothing was missed after it', async () => {
	const { id } = await twoTurns();
	const path = `/api/v1/conversations/${id}/events`;
	for (const position of ['x', '1', '1.', '.1', '-1.0', '1.0.0', '1e3.0', `${'9'.repeat(16)}.0`, '１.0']) {
		const refused = await app.call('GET', `${path}?last_event_id=${encodeURIComponent(position)}`);
		assert.deepEqual([refused.status, refused.body.error.code], [400, 'invalid_request'], position);
	}
	await using ahead = await follow(app, id, '999999999999.0');
	await say('Three', id);
	assert.equal((await ahead.until(isNamed('message.completed')))[0]?.data.message.content, 'Three');
});

test('twenty followers that join at different times show the same', async () => {
	const asked = model.replies.length;
	await using sent = await sendStreamed(app, { deployment_id: deployment, content: 'Wait' });
	const held = await model.reply(asked);
	const seen = await sent.until(({ data }) => data.message?.role === 'assistant');
	const id = seen[0]?.data.message.conversation_id;
	const followers: Array<{ before: ReceivedEvent[]; stream: Awaited<ReturnType<typeof follow>> }> = [];
	for (let at = 0; at < 10; at++) {
		held.say(`${at} 🙂 `);
		seen.push(...(await sent.until(isNamed('message.delta'))));
		followers.push({ before: [...seen], stream: await follow(app, id, seen.at(-1)?.id) });
		followers.push({ before: [], stream: await follow(app, id) });
	}
	held.end();
	const end = (await sent.rest()).at(-1)?.data.message;
	for (const { before, stream } of followers) {
		const heard = await stream.until(isNamed('message.completed'));
		const screen = new ClientView().show([...before, ...heard.slice(0, -1)]);
		assert.equal(screen.texts.get(end.id), end.content);
		assert.deepEqual(heard.at(-1)?.data.message, end);
		stream.disconnect();
	}
});
