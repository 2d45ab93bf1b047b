import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { suite, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { AsyncDisposableStack } from '../../src/base/index.ts';
import { CollectorClient, type CollectorSettings } from '../../src/net/index.ts';
import { createCertificate } from '../support/certificate.ts';
import { until } from '../support/until.ts';

type Answer = (response: ServerResponse) => void;

const status = (code: number, headers: Record<string, string> = {}, body = Buffer.alloc(0)): Answer => {
	return (response) => response.writeHead(code, headers).end(body);
};

/** A collector with these answers, one after the other; after them 200. */
async function startCollector(answers: Answer[], tls: ServerOptions | null = null) {
	const received: { headers: IncomingMessage['headers']; body: Buffer }[] = [];
	const onRequest = async (request: IncomingMessage, response: ServerResponse) => {
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk);
		received.push({ headers: request.headers, body: Buffer.concat(chunks) });
		(answers.shift() ?? status(200))(response);
	};
	const server = tls === null ? createServer(onRequest) : createSecureServer(tls, onRequest);
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address() as AddressInfo;
	return {
		url: `${tls === null ? 'http' : 'https'}://127.0.0.1:${port}/v1/traces`,
		received,
		async [Symbol.asyncDispose]() {
			server.closeAllConnections();
			server.close();
		},
	};
}

async function start(answers: Answer[], settings: Partial<CollectorSettings> = {}) {
	await using resources = new AsyncDisposableStack();
	const collector = resources.use(await startCollector(answers));
	const client = resources.use(clientOf(collector.url, settings));
	const owned = resources.move();
	return { ...collector, client, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

function clientOf(url: string, settings: Partial<CollectorSettings> = {}) {
	return new CollectorClient({ url, headers: {}, timeoutMs: 60_000, isCompressed: false, tls: {}, ...settings });
}

const PROTOBUF = { 'content-type': 'application/x-protobuf' };
const BODY = Buffer.from('spans '.repeat(100));

suite('the client of a collector', () => {
	test('sends spans with its headers, compressed where it is asked to', async () => {
		for (const isCompressed of [false, true]) {
			await using collector = await start([], { headers: { authorization: 'Basic a' }, isCompressed });
			await collector.client.send(BODY);
			const [request] = collector.received;
			assert.equal(request?.headers['content-type'], 'application/x-protobuf');
			assert.equal(request.headers.authorization, 'Basic a');
			assert.equal(request.headers['content-encoding'], isCompressed ? 'gzip' : undefined);
			assert.deepEqual(isCompressed ? gunzipSync(request.body) : request.body, BODY);
		}
	});

	test('repeats a request that a busy collector refuses, and one whose connection breaks', async () => {
		const later = { 'retry-after': '0' };
		const broken: Answer = (response) => response.destroy();
		await using collector = await start([status(429, later), status(503, later), broken]);
		await collector.client.send(BODY);
		assert.equal(collector.received.length, 4);
	});

	test('does not repeat a request that is wrong, and gives up after five attempts', async () => {
		const busy = Array.from({ length: 9 }, () => status(502, { 'retry-after': '0' }));
		await using collector = await start([status(400), ...busy]);
		await assert.rejects(collector.client.send(BODY), /The collector answered with status 400\./);
		assert.equal(collector.received.length, 1);
		await assert.rejects(collector.client.send(BODY), /status 502/);
		assert.equal(collector.received.length, 6);
	});

	test('says when a part of the spans is rejected, and why', async () => {
		/** `partial_success` with these bytes and an `error_message`. */
		const partial = (fields: number[], message: string): Answer => {
			const text = Buffer.from(message);
			const length = (bytes: number) => (bytes < 128 ? [bytes] : [(bytes & 0x7f) | 0x80, bytes >> 7]);
			const content = Buffer.from([...fields, ...(message === '' ? [] : [0x12, ...length(text.length), ...text])]);
			return status(200, PROTOBUF, Buffer.from([0x0a, ...length(content.length), ...content]));
		};
		const rejected = [0x08, 0x03];
		await using collector = await start([
			partial(rejected, ''),
			partial(rejected, `too many ${'x'.repeat(300)}`),
			// Nothing is rejected; the lengths have a byte with the value of the field.
			partial([], ''),
			partial([], 'w'.repeat(1_100)),
			partial([], 'w'.repeat(6)),
		]);
		await assert.rejects(collector.client.send(BODY), /rejected some of the spans\.$/);
		await assert.rejects(collector.client.send(BODY), /rejected some of the spans \(too many x+\)\.$/);
		for (let sent = 0; sent < 3; sent++) await collector.client.send(BODY);
	});

	test('stops at its time limit, and waits for no attempt that would come after it', async () => {
		await using silent = await start([() => {}], { timeoutMs: 50 });
		await assert.rejects(silent.client.send(BODY), /did not answer in time/);
		await using busy = await start([status(503, { 'retry-after': '99999999' }, Buffer.from('come later'))]);
		await assert.rejects(busy.client.send(BODY), /status 503 \(come later\)\./);
		assert.equal(busy.received.length, 1);
	});

	test('repeats the reason of a refusal without the values of its headers', async () => {
		const headers = { authorization: 'Basic c2VjcmV0', 'x-key': 'topsecret' };
		const reason = 'Unknown key topsecret in\nBasic c2VjcmV0 (c2VjcmV0)';
		await using collector = await start([status(401, {}, Buffer.from(reason))], { headers });
		await assert.rejects(collector.client.send(BODY), /status 401 \(Unknown key \*\*\* in \*\*\* \(\*\*\*\)\)\.$/);
		const message = Buffer.from([0x08, 0x10, 0x12, 0x03, ...Buffer.from('bad')]);
		await using other = await start([status(400, PROTOBUF, message)]);
		await assert.rejects(other.client.send(BODY), /status 400 \(bad\)\.$/);
	});

	test('has one last attempt when retries are stopped, and ends what it sends when it is closed', async () => {
		const hour = 3_600_000;
		await using collector = await start([status(503, { 'retry-after': '3000' }), status(502), () => {}], {
			timeoutMs: hour,
		});
		const refused = assert.rejects(collector.client.send(BODY), /status 50[23]/);
		await until('the first attempt has arrived', () => collector.received.length === 1);
		collector.client.stopRetrying();
		await refused;
		const before = collector.received.length;
		assert.ok(before <= 2);
		if (before === 1) await assert.rejects(collector.client.send(BODY), /status 502/);
		const ended = assert.rejects(collector.client.send(BODY), /The server ends before the collector has answered\./);
		await until('the next export has arrived', () => collector.received.length === 3);
		await collector.client[Symbol.asyncDispose]();
		await ended;
	});

	test('trusts the certificates that it is given, and no others', async () => {
		const { certificate, key } = createCertificate();
		await using collector = await startCollector([], { cert: certificate, key });
		await using trusting = clientOf(collector.url, { tls: { ca: Buffer.from(certificate) } });
		await trusting.send(BODY);
		await using other = clientOf(collector.url);
		await assert.rejects(other.send(BODY), /No trusted TLS connection/);
		assert.equal(collector.received.length, 1);
	});

	test('shows the collector its own certificate', async () => {
		const { certificate, key } = createCertificate();
		const own = createCertificate({ name: 'parley' });
		const askForCertificate = { requestCert: true, rejectUnauthorized: true, ca: own.certificate };
		await using collector = await startCollector([], { cert: certificate, key, ...askForCertificate });
		const ca = Buffer.from(certificate);
		const tls = { ca, cert: Buffer.from(own.certificate), key: Buffer.from(own.key) };
		await using known = clientOf(collector.url, { tls });
		await known.send(BODY);
		await using unknown = clientOf(collector.url, { tls: { ca } });
		unknown.stopRetrying();
		await assert.rejects(unknown.send(BODY), /No trusted TLS connection|broke off before there was a response/);
		assert.equal(collector.received.length, 1);
	});
});
