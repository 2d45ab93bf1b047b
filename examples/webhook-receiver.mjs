// Receives webhooks, verifies their signatures (Standard Webhooks) and prints each event once.
//
//   SECRET=whsec_… node examples/webhook-receiver.mjs 3000
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const secret = process.env.SECRET;
if (!secret?.startsWith('whsec_')) {
	console.error('Usage: SECRET=whsec_… node examples/webhook-receiver.mjs [PORT]');
	process.exit(2);
}
const signingKey = Buffer.from(secret.slice('whsec_'.length), 'base64');

/** Older or later signatures are rejected: the request may be a replay. */
const TOLERANCE_SECONDS = 5 * 60;
/** A delivery is only a little larger than its event's resource. */
const MAX_BODY_BYTES = 5 * 1024 * 1024;
/** Ids of events that were handled. A real receiver keeps them in its database, for as long as deliveries are retried. */
const handled = new Set();

const server = createServer(async (request, response) => {
	const answer = (status) => response.writeHead(status).end();
	try {
		// The signature is over the raw bytes: parse them only when it is verified.
		const body = await bytesOf(request);
		if (!isSigned(request.headers, body)) return answer(401);
		const event = JSON.parse(body.toString());
		// Deliveries may repeat; a repeat needs a success, too, or it is retried.
		if (!handled.has(event.id)) {
			handled.add(event.id);
			console.log(`${event.created_at} ${event.type} ${event.id}`);
		}
		return answer(204);
	} catch (error) {
		console.error(error.message);
		return answer(400);
	}
});

server.listen(Number(process.argv[2] ?? 3000), '127.0.0.1', () => {
	console.log(`Listening on http://127.0.0.1:${server.address().port}`);
});

function isSigned(headers, body) {
	const id = headers['webhook-id'];
	const timestamp = headers['webhook-timestamp'];
	const signatures = headers['webhook-signature'];
	if (!id || !timestamp || !signatures) return false;
	if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS)) return false;
	const expected = createHmac('sha256', signingKey).update(`${id}.${timestamp}.`).update(body).digest();
	// For a day after a change of the secret, the former secret signs too.
	return signatures.split(' ').some((signature) => {
		const [version, value = ''] = signature.split(',');
		const given = Buffer.from(value, 'base64');
		return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
	});
}

async function bytesOf(request) {
	const parts = [];
	let size = 0;
	for await (const part of request) {
		size += part.length;
		if (size > MAX_BODY_BYTES) throw new Error('The body is too large.');
		parts.push(part);
	}
	return Buffer.concat(parts);
}
