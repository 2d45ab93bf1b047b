import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { openTestStream } from '../conversations/streams.ts';
import { startTestApp } from '../support/app.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { createResource } from './fixture.ts';

const app = await startTestApp({ settings: { allow_private_network: true } });
after(() => app[Symbol.asyncDispose]());

test('reports a delivery after each attempt, as the API shows it', async () => {
	await using receiver = await startReceiver(app, ['assistant.updated']);
	receiver.respond = () => ({ status: 503 });
	const headers = { authorization: `Bearer ${app.key}` };
	await using stream = await openTestStream(`${app.url}/api/v1/events?stream=true&notices=true`, { headers });
	const assistant = await createResource(app, '/api/v1/assistants', { name: 'Kettles' });
	await app.call('PATCH', `/api/v1/assistants/${assistant}`, { name: 'Kettle help' });
	const failed = await stream.until(
		({ event, data }) => event === 'webhook_delivery.updated' && data.data.attempts > 0,
	);
	const notice = failed.at(-1);
	assert.ok(!notice?.id, 'a notice does not move the position in the log');
	const { id, webhook_id, status, status_code } = notice?.data.data ?? {};
	assert.deepEqual([webhook_id, status, status_code], [receiver.id, 'pending', 503]);
	receiver.respond = () => ({ status: 204 });
	await app.call('POST', `${receiver.path}/deliveries/${id}/retry`);
	const delivered = await stream.until(
		({ event, data }) => event === 'webhook_delivery.updated' && data.data.status === 'delivered',
	);
	const {
		attempt_log: _attempts,
		event: _event,
		...shown
	} = (await app.call('GET', `${receiver.path}/deliveries/${id}`)).body;
	assert.deepEqual(delivered.at(-1)?.data.data, shown);
});
