import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { startTestApp } from '../support/app.ts';
import { until } from '../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every kind
type Line = Record<string, any>;

/** Texts of users and secrets, which no log line may hold. */
const UNSAID = 'wombat-umbrella';

test('request lines name workspace, credential, deployment and reply, and hold neither secrets nor texts of users', async () => {
	const lines: Line[] = [];
	const text: string[] = [];
	const log = pino<never>(
		{ level: 'trace' },
		{
			write(line: string) {
				text.push(line);
				lines.push(JSON.parse(line));
			},
		},
	);
	const settings = { request_log_sample: 1, allow_private_network: true };
	await using app = await startTestApp({ overrides: { log }, settings });
	const { body: workspace } = await app.call('GET', '/api/v1/workspace');
	const { body: base } = await app.call('POST', '/api/v1/knowledge-bases', { name: UNSAID });
	const { body: assistant } = await app.call('POST', '/api/v1/assistants', { name: UNSAID, master_prompt: UNSAID });
	const { body: deployment } = await app.call('POST', '/api/v1/deployments', {
		assistant_id: assistant.id,
		allowed_domains: ['shop.example'],
	});
	const { body: key } = await app.call('POST', '/api/v1/api-keys', { name: UNSAID });
	const { body: webhook } = await app.call('POST', '/api/v1/webhooks', {
		url: 'https://hooks.example.com/wombat-umbrella',
		events: ['*'],
	});
	const message = { deployment_id: deployment.id, content: UNSAID };
	const said = await app.call('POST', '/api/v1/messages', message);
	const stream = await fetch(`${app.url}/api/v1/messages`, {
		method: 'POST',
		headers: { authorization: `Bearer ${app.key}`, 'content-type': 'application/json' },
		body: JSON.stringify({ ...message, stream: true }),
	});
	await stream.text();
	const refused = await app.call('GET', '/api/v1/assistants', undefined, { authorization: `Bearer ${UNSAID}` });
	await app.callAsVisitor('GET', `/api/v1/widget/config?deployment_id=${deployment.id}&x=${UNSAID}`);
	await app.callAsVisitor('POST', '/api/v1/widget/messages', message, { authorization: `Bearer ${UNSAID}` });
	await app.call('POST', '/api/v1/session', { email: 'owner@localhost', password: UNSAID }, { cookie: `a=${UNSAID}` });
	await app.call('GET', `/api/v1/events?cursor=${UNSAID}`);
	await app.call('GET', `/${UNSAID}`);
	await app.call('POST', '/api/v1/assistants', { name: 'x'.repeat(1_100_000) });

	const requests = () => lines.filter(({ msg }) => msg === 'request');
	await until('all are logged', () => requests().length >= 15);
	const of = (route: string | null, method = 'POST') =>
		requests().filter((line) => line.route === route && line.method === method);
	const [whole, streamed] = of('/api/v1/messages') as [Line, Line];
	assert.deepEqual([whole.workspace, whole.message, whole.status], [workspace.id, said.body.id, 201]);
	assert.match(whole.credential, /^key_[0-9a-z]{32}$/);
	assert.match(whole.client, /^[0-9a-f]{16}$/);
	assert.deepEqual([streamed.stream, streamed.outcome, streamed.status], [true, 'completed', 200]);
	assert.match(streamed.message, /^msg_/);
	const unknown = of('/api/v1/assistants', 'GET')[0];
	assert.deepEqual(
		[unknown?.status, unknown?.error, unknown?.request_id, unknown?.workspace],
		[401, 'unauthorized', refused.headers.get('x-request-id'), undefined],
	);
	const visitor = of('/api/v1/widget/messages')[0];
	assert.deepEqual([visitor?.workspace, visitor?.deployment], [workspace.id, deployment.id]);
	assert.equal(of('/api/v1/widget/config', 'GET').length, 1);
	assert.deepEqual(
		of('/api/v1/session').map(({ status }) => status),
		[401],
	);
	assert.deepEqual(
		of(null, 'GET').map(({ status, error }) => [status, error]),
		[[404, 'not_found']],
	);
	assert.equal(of('/api/v1/assistants').at(-1)?.status, 413);
	assert.equal(base.name, UNSAID);

	const all = text.join('');
	for (const secret of [UNSAID, app.key, key.key, webhook.signing_secret, 'shop.example']) {
		assert.ok(typeof secret === 'string' && secret.length > 8);
		assert.equal(all.includes(secret), false, `the log holds ${secret.slice(0, 6)}…`);
	}
});

test('names clients as the setting says, and writes no line where the request log is off', async () => {
	const named = async (settings: object) => {
		const lines: Line[] = [];
		const log = pino<never>({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
		await using app = await startTestApp({ overrides: { log }, settings });
		await app.call('GET', '/api/v1/workspace');
		return lines.filter(({ msg }) => msg === 'request').map(({ client }) => client);
	};
	assert.deepEqual(await named({ request_log_address: 'plain' }), ['127.0.0.1']);
	assert.deepEqual(await named({ request_log_address: 'off' }), [undefined]);
	assert.deepEqual(await named({ request_log: false }), []);
	const [one, other] = [await named({}), await named({})];
	assert.match(one[0] ?? '', /^[0-9a-f]{16}$/);
	assert.notDeepEqual(one, other, 'another server has another key');
});
