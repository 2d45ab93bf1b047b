import assert from 'node:assert/strict';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { newSigningSecret, signatureHeaders } from '../../src/webhooks/index.ts';

const BODIES = 1_000;

/** JSON in which any character of Unicode may stand, some of them as they are and some as escapes. */
const body = fc
	.tuple(fc.string({ unit: 'binary', maxLength: 200 }), fc.string({ unit: 'grapheme', maxLength: 50 }))
	.map(([any, seen]) => JSON.stringify({ any, seen }));

/** What a receiver does that has the service's own signature and nothing but HMAC. */
function verifies(secret: string, raw: Buffer, headers: Record<string, string>): boolean {
	const expected = createHmac('sha256', secret).update(raw).digest();
	const given = Buffer.from(headers['x-service-signature'] ?? '', 'hex');
	return given.length === expected.length && timingSafeEqual(given, expected);
}

/** The Standard Webhooks signature, by nothing but HMAC. */
function verifiesStandard(secret: string, raw: Buffer, headers: Record<string, string>): boolean {
	const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
	const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
	const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(raw).digest('base64');
	return signature === `v1,${expected}`;
}

function accepted(secret: string, raw: Buffer, headers: Record<string, string>): boolean {
	try {
		new Webhook(secret).verify(raw, headers);
		return true;
	} catch {
		return false;
	}
}

test('the published library and plain HMAC verify any body, and neither verifies it with a flipped byte', () => {
	let seen = 0;
	fc.assert(
		fc.property(body, fc.nat(), fc.integer({ min: 1, max: 255 }), (text, at, flip) => {
			const secret = newSigningSecret();
			const headers = signatureHeaders({ id: 'evt_1', type: 'message.created', body: text }, [secret], Date.now());
			const raw = Buffer.from(text, 'utf8');
			assert.deepEqual(new Webhook(secret).verify(text, headers), JSON.parse(text));
			assert.ok(verifies(secret, raw, headers) && verifiesStandard(secret, raw, headers));

			const flipped = Buffer.from(raw);
			flipped[at % raw.length] = (flipped[at % raw.length] as number) ^ flip;
			assert.ok(!accepted(secret, flipped, headers), 'the library');
			assert.ok(!verifies(secret, flipped, headers) && !verifiesStandard(secret, flipped, headers), 'plain HMAC');
			seen++;
		}),
		{ numRuns: BODIES },
	);
	assert.equal(seen, BODIES);
});

test('the signature depends on each bit of the body and each character signed with it', () => {
	const secret = newSigningSecret();
	const text = JSON.stringify({ id: 'evt_1', data: { content: 'Grüße 👋 \u2028 </script>' } });
	const raw = Buffer.from(text, 'utf8');
	const headers = signatureHeaders({ id: 'evt_1', type: 'message.created', body: text }, [secret], Date.now());
	for (let at = 0; at < raw.length; at++) {
		for (let bit = 0; bit < 8; bit++) {
			const flipped = Buffer.from(raw);
			flipped[at] = (flipped[at] as number) ^ (1 << bit);
			assert.ok(!accepted(secret, flipped, headers), `bit ${bit} of byte ${at}`);
			assert.ok(!verifies(secret, flipped, headers), `bit ${bit} of byte ${at}`);
		}
	}
	for (const altered of [raw.subarray(1), raw.subarray(0, -1), Buffer.concat([raw, Buffer.from(' ')])]) {
		assert.ok(!accepted(secret, altered, headers) && !verifies(secret, altered, headers));
	}
	for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
		const value = headers[name] as string;
		// The last character of Base64 before `=` has bits that no byte holds.
		const end = name === 'webhook-signature' ? value.length - 2 : value.length;
		for (let at = name === 'webhook-signature' ? 'v1,'.length : 0; at < end; at++) {
			const other = value[at] === '1' ? '2' : '1';
			const altered = { ...headers, [name]: value.slice(0, at) + other + value.slice(at + 1) };
			assert.ok(!accepted(secret, raw, altered), `${name} at ${at}`);
		}
	}
});
