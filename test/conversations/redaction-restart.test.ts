import assert from 'node:assert/strict';
import test from 'node:test';
import { apiPeer } from '../tools/api-peer.ts';
import { EMAIL, messagesOf, PHONE, RedactionScenario } from './redaction-scenario.ts';

test('a value keeps its placeholder after a restart', async () => {
	await using server = await RedactionScenario.start();
	server.models.setDefault([{ say: 'Noted: [EMAIL_2].' }]);
	const { conversation_id } = await server.send(`From bob.canary@example.com to ${EMAIL}`);
	await server.restart();
	await server.send(`Is ${EMAIL} right?`, conversation_id);
	const sent = ['From [EMAIL_1] to [EMAIL_2]', 'Noted: [EMAIL_2].', 'Is [EMAIL_2] right?'];
	assert.deepEqual(messagesOf(server.models.calls[1]), sent);
	server.assertNoCanary();
});

test('a reply that goes on from its stored calls after a restart has the same placeholders', async () => {
	await using crm = await apiPeer();
	await using server = await RedactionScenario.start();
	await server.attachTool(crm.origin);
	crm.respond = (response) => {
		response.setHeader('content-type', 'application/json').end('{"owner":"bob.canary@example.com"}');
	};
	const call = { id: 'call_1', name: 'find_customer', arguments: { email: '[EMAIL_1]', note: '[PHONE_1]' } };
	server.models.enqueue(
		[{ say: 'I look up [EMAIL_1].' }, { call }, { finish: 'tool_calls' }],
		[{ status: 400 }],
		[{ say: 'It belongs to [EMAIL_2].' }],
	);
	const send = () => server.post(`I am ${EMAIL}, ${PHONE}`, undefined, { 'idempotency-key': 'once' });
	assert.equal((await send()).status, 500);
	await server.restart();
	const { status, body } = await send();
	assert.equal(status, 201);
	assert.equal(body.content, `I look up ${EMAIL}.\n\nIt belongs to bob.canary@example.com.`);
	assert.equal(crm.requests.length, 1);
	const [, before, after] = server.models.calls;
	assert.deepEqual(after?.body.messages, before?.body.messages);
	server.assertNoCanary();
});

test('a reply with stored calls is redacted if the option is switched on before it goes on', async () => {
	await using crm = await apiPeer();
	await using server = await RedactionScenario.start({ redaction: [] });
	await server.attachTool(crm.origin);
	const call = { id: 'call_1', name: 'find_customer', arguments: { email: EMAIL, note: PHONE } };
	server.models.enqueue(
		[{ say: `I look up ${EMAIL}.` }, { call }, { finish: 'tool_calls' }],
		[{ status: 400 }],
		[{ say: 'Found [EMAIL_1].' }],
	);
	const send = () => server.post(`I am ${EMAIL}, ${PHONE}`, undefined, { 'idempotency-key': 'once' });
	assert.equal((await send()).status, 500);
	await server.configure({ redaction: ['email', 'phone', 'card'] });
	const earlier = server.models.calls.splice(0).length;
	assert.equal((await send()).body.content, `I look up ${EMAIL}.\n\nFound ${EMAIL}.`);
	assert.deepEqual([earlier, server.models.calls.length], [2, 1]);
	server.assertNoCanary();
});
