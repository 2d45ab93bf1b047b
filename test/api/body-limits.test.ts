import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { ORIGIN, startTestApp } from '../support/app.ts';
import { createApiFixture } from './fixture.ts';

const app = await startTestApp();
after(() => app[Symbol.asyncDispose]());
const { deployment } = await createApiFixture(app, { deployment: { rate_limit: { messages_per_minute: 1_000 } } });

const KIB = 1_024;
const MESSAGES = '/api/v1/widget/messages';

/** Posts a body that white space pads to this length in bytes. */
async function post(path: string, body: unknown, bytes: number, headers: Record<string, string> = {}) {
	const response = await fetch(app.url + path, {
		method: 'POST',
		headers: { 'content-type': 'application/json', origin: ORIGIN, ...headers },
		body: JSON.stringify(body).padEnd(bytes),
	});
	const { error } = (await response.json()) as { error?: { code: string } };
	return { status: response.status, code: error?.code };
}

test('public operations accept only bodies of the size that they need', async () => {
	const own = { origin: app.url };
	const key = { authorization: `Bearer ${app.key}` };
	const limits: Array<[path: string, body: object, bytes: number, headers?: Record<string, string>]> = [
		['/api/v1/session', { email: 'nobody@example.com', password: 'none' }, 8 * KIB, own],
		['/api/v1/session/password', { token: 'none', password: 'long enough for all' }, 8 * KIB, own],
		['/api/v1/widget/conversations/conv_1/stop', { deployment_id: deployment }, 8 * KIB],
		[`${MESSAGES}/msg_1/feedback`, { deployment_id: deployment, rating: 'up' }, 32 * KIB],
		[MESSAGES, { deployment_id: deployment, content: 'Hi' }, 448 * KIB],
		['/api/v1/webhooks/wh_1/test', {}, 8 * KIB, key],
	];
	for (const [path, body, bytes, headers] of limits) {
		assert.notEqual((await post(path, body, bytes, headers)).status, 413, path);
		const over = await post(path, body, bytes + 1, headers);
		assert.deepEqual(over, { status: 413, code: 'payload_too_large' }, path);
	}
	assert.equal((await post('/api/v1/assistants', { name: 'Guide' }, KIB * KIB, key)).status, 201);
});

test('accepts the longest fields, also where a client writes each character as an escape', async () => {
	const escaped = (value: unknown) =>
		JSON.stringify(value).replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
	const send = (path: string, body: unknown, origin = ORIGIN) =>
		fetch(app.url + path, {
			method: 'POST',
			headers: { 'content-type': 'application/json', origin },
			body: escaped(body),
		});
	const message = {
		deployment_id: deployment,
		content: '🙂'.repeat(32_000),
		metadata: { note: 'é'.repeat(8_000) },
	};
	const sent = await send(MESSAGES, message);
	const { id, user_message } = (await sent.json()) as { id: string; user_message: { content: string } };
	assert.equal(sent.status, 201);
	assert.equal(user_message.content, message.content);
	const feedback = { deployment_id: deployment, rating: 'down', comment: '🙁'.repeat(2_000) };
	assert.equal((await send(`${MESSAGES}/${id}/feedback`, feedback)).status, 200);
	const signIn = { email: `${'é'.repeat(240)}@example.com`, password: '🙂'.repeat(200), workspace_id: 'é'.repeat(100) };
	assert.equal((await send('/api/v1/session', signIn, app.url)).status, 401);
});
