import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { systemClock } from '../../../src/base/index.ts';
import {
	assertGoesOn,
	assertReply,
	assertStreamed,
	assertTurn,
	assertWhole,
	type ExpectedReply,
	usageOf,
} from './expected.ts';
import { FaultHarness, type FaultScenario, MODES, type Mode } from './fault-harness.ts';

/** Milliseconds by which the server's clock is ahead. */
let ahead = 0;
const clock = { now: () => systemClock.now() + ahead };
const scenes = 12;
const nowhere = { base_url: 'http://127.0.0.1:1/v1' };
const bench = await FaultHarness.start([nowhere, nowhere, ...Array.from({ length: scenes }, () => ({}))], {
	overrides: { clock },
});
after(() => bench[Symbol.asyncDispose]());

const REFUSED: ExpectedReply = {
	status: 'failed',
	content: '',
	error: 'The model provider did not accept the request.',
	usage: null,
};
const CONTENT = 'How are you?';

/** A turn whose reply has failed. */
async function failedTurn(scene: FaultScenario, key: string, mode: Mode = 'whole') {
	scene.model.enqueue([{ status: 400, body: '{}' }]);
	const answered = await scene.send(mode, CONTENT, { key });
	return assertTurn(scene, mode, CONTENT, answered, REFUSED);
}

for (const mode of MODES) {
	test(`a reply that an unreachable provider has failed is written by another model when the request is repeated, the reply ${mode}`, async () => {
		const scene = await bench.scenario();
		const answered = await scene.send(mode, CONTENT, { key: `again ${mode}` });
		const expected = { ...REFUSED, error: 'The model provider could not be reached.' };
		const reply = await assertTurn(scene, mode, CONTENT, answered, expected);
		assert.match(reply.model, /^stand-in-/);
		await bench.app.call('PATCH', `/api/v1/assistants/${scene.assistant}`, { model: 'builtin/extractive' });
		const repeated = await scene.send(mode, CONTENT, { key: `again ${mode}` });
		const [question, again, ...more] = await scene.messages();
		assert.deepEqual([again.id, again.status, again.model, more], [reply.id, 'completed', 'builtin/extractive', []]);
		if (mode === 'whole') assertWhole(repeated, question, again);
		else assertStreamed(repeated.events, question, again, 'reset');
	});
}

for (const mode of MODES) {
	test(`a provider that has failed five times in a row is left alone for ten seconds, the reply ${mode}`, async () => {
		const scene = await bench.scenario();
		for (let time = 0; time < 5; time++) {
			scene.model.enqueue([{ raw: 'data: {{{\n\n' }]);
			assert.equal((await scene.send('whole', `Time ${time}?`)).status, 500);
		}
		const other = await sameModel(scene);
		const answered = await other.send(mode, CONTENT, { key: `alone ${mode}` });
		const error =
			'The model provider has failed several times in a row and gets no requests for a while. Try again later.';
		const expected = { ...REFUSED, error };
		const reply = await assertTurn(other, mode, CONTENT, answered, expected);
		assert.equal(scene.model.calls.length, 5, 'it is not asked');
		ahead += 10_000;
		await assertGoesOn(other, mode, { content: CONTENT, key: `alone ${mode}` }, reply, expected);
	});
}

/** Another scene with the same provider. */
async function sameModel(scene: FaultScenario): Promise<FaultScenario> {
	const other = await bench.scenario();
	const { body } = await bench.app.call('GET', `/api/v1/assistants/${scene.assistant}`);
	await bench.app.call('PATCH', `/api/v1/assistants/${other.assistant}`, { model: body.model });
	return other.playedBy(scene.model);
}

test("a repeat rewrites a failed reply with the assistant's current model", async () => {
	const scene = await bench.scenario();
	const reply = await failedTurn(scene, 'other model');
	await bench.app.call('PATCH', `/api/v1/assistants/${scene.assistant}`, {
		model: reply.model.replace('small', 'large'),
	});
	const { status, body } = await scene.send('whole', CONTENT, { key: 'other model' });
	assert.deepEqual([status, body.id, body.content], [201, reply.id, 'Hello.']);
	assert.match(body.model, /\/large$/);
	assert.equal(scene.model.calls.at(-1)?.body.model, 'large');
});

for (const mode of MODES) {
	test(`while a person has the conversation, a repeat has no reply written, the reply ${mode}`, async () => {
		const scene = await bench.scenario();
		const reply = await failedTurn(scene, `taken over ${mode}`, mode);
		const path = `/api/v1/conversations/${reply.conversation_id}`;
		assert.equal((await bench.app.call('POST', `${path}/takeover`)).status, 200);
		const repeated = await scene.send(mode, CONTENT, { key: `taken over ${mode}` });
		const [question, stored, ...more] = await scene.messages();
		assert.deepEqual([stored, more], [reply, []]);
		if (mode === 'whole') {
			const { user_message, ...answer } = repeated.body;
			assert.deepEqual([repeated.status, answer, user_message], [201, question, question]);
		} else {
			assert.deepEqual(
				repeated.events.map(({ event, data }) => [event, data.message]),
				[['message.created', question]],
			);
		}
		assert.equal(scene.model.calls.length, 1, 'the model is not asked');
		assert.equal((await bench.app.call('POST', `${path}/release`)).status, 200);
		await scene.send(mode, CONTENT, { key: `taken over ${mode}` });
		assert.equal((await scene.messages())[1].content, 'Hello.', 'given back, the model writes it');
	});
}

test('rejects a repeat in an archived conversation, and keeps the failed reply', async () => {
	const scene = await bench.scenario();
	const reply = await failedTurn(scene, 'archived');
	await bench.app.call('DELETE', `/api/v1/conversations/${reply.conversation_id}`);
	const { status, body } = await scene.send('whole', CONTENT, { key: 'archived' });
	assert.deepEqual([status, body.error.code], [400, 'conversation_archived']);
	assert.deepEqual((await scene.messages())[1], reply);
});

test('concurrent repeats rewrite a failed reply once', async () => {
	const scene = await bench.scenario();
	const reply = await failedTurn(scene, 'at once');
	const answers = await Promise.all(Array.from({ length: 5 }, () => scene.send('whole', CONTENT, { key: 'at once' })));
	assert.deepEqual(
		answers.map(({ status, body }) => [status, body.id, body.content]),
		Array(5).fill([201, reply.id, 'Hello.']),
	);
	assert.equal(scene.model.calls.length, 2);
});

test('a repeat whose reply fails again leaves one question and one reply, and publishes both failures', async () => {
	const scene = await bench.scenario();
	const first = await failedTurn(scene, 'again and again');
	scene.model.enqueue([{ say: 'Half an ' }, { die: true }]);
	const { status, body } = await scene.send('whole', CONTENT, { key: 'again and again' });
	assert.deepEqual([status, body.error.code], [500, 'model_error']);
	const [question, second, ...more] = await scene.messages();
	assert.deepEqual([second.id, second.content, more], [first.id, 'Half an ', []]);
	const repeated = await scene.send('whole', CONTENT, { key: 'again and again' });
	assert.equal(repeated.body.content, 'Hello.');
	const third = (await scene.messages())[1];
	assertReply(third, { status: 'completed', content: 'Hello.', usage: usageOf(1) });
	const log = await bench.eventsOf(question.conversation_id);
	assert.deepEqual(
		log.filter(({ data }) => data.id === first.id).map(({ data }) => data),
		[first, second, third],
		'whoever goes by the events has the reply as it is in the end',
	);
});
