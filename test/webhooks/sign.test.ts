import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { newSigningSecret, renderEvent, signatureHeaders } from '../../src/webhooks/index.ts';

const event = {
	id: 'evt_1',
	type: 'message.created',
	data: { id: 'msg_1', content: 'Grüße 👋 \u2028 </script>' },
	created_at: Date.UTC(2026, 10, 20, 12),
};
const body = renderEvent(event);

test('sends the event as the API shows it', () => {
	assert.equal(
		body,
		'{"id":"evt_1","type":"message.created","created_at":"2026-11-20T12:00:00.000Z","data":{"id":"msg_1","content":"Grüße 👋 \u2028 </script>"}}',
	);
	const stored = JSON.parse(JSON.stringify({ ...event, data: { 10: 'ten', b: 1, 2: 'two', a: [undefined, null] } }));
	assert.equal(
		renderEvent(stored),
		renderEvent(JSON.parse(JSON.stringify(stored))),
		'a stored event is always the same',
	);
});

test('signs the example of the Standard Webhooks specification as specified', () => {
	const headers = signatureHeaders(
		{ id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', type: 'test', body: '{"test": 2432232314}' },
		['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
		1_614_265_330_999,
	);
	assert.equal(headers['webhook-timestamp'], '1614265330');
	assert.equal(headers['webhook-signature'], 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

test('the published verifier accepts a delivery, and either of two valid secrets', () => {
	const [newest, former, foreign] = [newSigningSecret(), newSigningSecret(), newSigningSecret()];
	const one = signatureHeaders({ ...event, body }, [newest], Date.now());
	assert.deepEqual(new Webhook(newest).verify(body, one), JSON.parse(body));
	assert.throws(() => new Webhook(former).verify(body, one));

	const two = signatureHeaders({ ...event, body }, [newest, former], Date.now());
	for (const secret of [newest, former]) assert.deepEqual(new Webhook(secret).verify(body, two), JSON.parse(body));
	assert.throws(() => new Webhook(foreign).verify(body, two));
	assert.throws(() => new Webhook(newest).verify(`${body} `, two), 'an altered body');
	assert.throws(() => new Webhook(newest).verify(body, { ...two, 'webhook-id': 'evt_2' }), 'another event');
	const old = signatureHeaders({ ...event, body }, [newest], Date.now() - 3_600_000);
	assert.throws(() => new Webhook(newest).verify(body, old), /too old/, 'a replay');
});

test("the service's own signature is the HMAC of the body under the newest secret", () => {
	const secrets = [newSigningSecret(), newSigningSecret()] as const;
	const now = Date.UTC(2026, 10, 20, 12, 0, 5, 999);
	const headers = signatureHeaders({ ...event, body }, secrets, now);
	const expected = createHmac('sha256', Buffer.from(secrets[0], 'utf8'))
		.update(Buffer.from(body, 'utf8'))
		.digest('hex');
	assert.equal(headers['x-service-signature'], expected);
	assert.equal(headers['x-service-timestamp'], String(Math.floor(now / 1000)));
	assert.equal(headers['x-service-event'], 'message.created');
	assert.equal(headers['webhook-id'], 'evt_1');
});
