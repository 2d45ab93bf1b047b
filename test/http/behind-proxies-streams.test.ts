import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { type TestContext, test } from 'node:test';
import { constants, createGunzip } from 'node:zlib';
import { deferred } from '../../src/base/index.ts';
import type { EncodableEvent, Route } from '../../src/http/index.ts';
import { certificateFiles } from '../support/certificate.ts';
import { httpsRequest } from '../support/https-request.ts';
import { IterableSource } from '../support/pull-source.ts';
import { DEPLOYED_PROXIES, type DeployedProxy } from './deployed-proxies.ts';
import { eventually, json, start } from './harness.ts';
import { startProxy } from './proxies.ts';

const { nginx, caddy } = DEPLOYED_PROXIES;
const CHAINS: Array<[outer: DeployedProxy, inner: DeployedProxy]> = [
	[nginx, nginx],
	[caddy, caddy],
	[nginx, caddy],
	[caddy, nginx],
];
const MEBIBYTE = 1024 * 1024;
const HEARTBEAT_MS = 500;
const READ_TIMEOUT_S = 8;

/** Starts both proxies in front of the server, the outer one with TLS. Resolves with the address. */
async function startChain(t: TestContext, outer: DeployedProxy, inner: DeployedProxy, port: number): Promise<string> {
	const readTimeout = `${READ_TIMEOUT_S}s`;
	const second = await startProxy(t, inner.proxy(null, readTimeout), port);
	const tls = await certificateFiles(t);
	return `https://localhost:${await startProxy(t, outer.proxy(tls, readTimeout), second)}`;
}

/** A stream as a browser reads it, with gzip. */
async function openStream(t: TestContext, url: string) {
	const sent = request(url, { agent: false, rejectUnauthorized: false, headers: { 'accept-encoding': 'gzip' } });
	t.after(() => sent.destroy());
	sent.end();
	const response = await new Promise<IncomingMessage>((resolve, reject) =>
		sent.once('response', resolve).once('error', reject),
	);
	const encoding = response.headers['content-encoding'];
	const body = encoding === 'gzip' ? response.pipe(createGunzip({ flush: constants.Z_SYNC_FLUSH })) : response;
	const stream = { encoding, text: '', isEnded: false, error: null as Error | null };
	body.setEncoding('utf8');
	body.on('data', (part: string) => {
		stream.text += part;
	});
	body.on('end', () => {
		stream.isEnded = true;
	});
	for (const source of [response, body]) {
		source.on('error', (error: Error) => {
			stream.error = error;
		});
	}
	return stream;
}

for (const [outer, inner] of CHAINS) {
	const missing = [outer, inner].find(({ program }) => program === null);
	const options = { skip: missing === undefined ? false : `${missing.name} is not installed` };
	const chain = `${outer.name} in front of ${inner.name}`;

	test(`an event passes ${chain} before the next one is written`, options, async (t) => {
		const release = [deferred<void>(), deferred<void>()];
		async function* events(): AsyncGenerator<EncodableEvent> {
			yield { event: 'message.delta', data: '"first"' };
			await release[0]?.promise;
			yield { event: 'message.delta', data: '"second"' };
			await release[1]?.promise;
			yield { event: 'message.completed', data: '"end"' };
		}
		const route: Route = { method: 'GET', path: '/events', handle: () => ({ events: new IterableSource(events()) }) };
		const { port } = await start(t, [route]);
		const stream = await openStream(t, `${await startChain(t, outer, inner, port)}/events`);
		// Caddy obeys no-transform.
		assert.equal(stream.encoding, outer === nginx || inner === nginx ? 'gzip' : undefined);
		await eventually(() => stream.text.includes('"first"'), 'the first event arrives');
		assert.ok(!stream.text.includes('"second"'));
		release[0]?.resolve();
		await eventually(() => stream.text.includes('"second"'), 'the second event arrives');
		assert.equal(stream.isEnded, false);
		release[1]?.resolve();
		await eventually(() => stream.isEnded, 'the stream ends');
		assert.deepEqual([stream.text.split('event: ').length, stream.error], [4, null]);
	});

	test(`a large upload and a compressed response pass ${chain}`, options, async (t) => {
		const file = randomBytes(25 * MEBIBYTE);
		const upload: Route = {
			method: 'POST',
			path: '/upload',
			async handle(request) {
				const hash = createHash('sha256');
				await request.multipart({
					maxFileBytes: 26 * MEBIBYTE,
					maxFieldBytes: 1_000,
					async onFile({ pieces }) {
						for await (const bytes of pieces) hash.update(bytes);
					},
				});
				return json(200, { hash: hash.digest('hex'), client: request.clientAddress, padding: 'x'.repeat(2_000) });
			},
		};
		const { port } = await start(t, [upload], { trustedProxies: ['127.0.0.1'] });
		const url = await startChain(t, outer, inner, port);
		const head = '--XX\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n';
		const response = await httpsRequest(`${url}/upload`, {
			method: 'POST',
			headers: { 'content-type': 'multipart/form-data; boundary=XX' },
			body: Buffer.concat([Buffer.from(head), file, Buffer.from('\r\n--XX--\r\n')]),
		});
		assert.equal(response.status, 200, response.body);
		const { hash, client } = JSON.parse(response.body);
		assert.equal(hash, createHash('sha256').update(file).digest('hex'));
		assert.match(client, /^(127\.0\.0\.1|::1)$/);
	});
}

const installed = CHAINS.filter((chain) => chain.every(({ program }) => program !== null));

test('heartbeats keep idle streams open behind two proxies', {
	skip: installed.length === 0 && 'neither nginx nor Caddy is installed',
}, async (t) => {
	const release = deferred<void>();
	async function* events(): AsyncGenerator<EncodableEvent> {
		await release.promise;
		yield { event: 'message.delta', data: '"late"' };
	}
	const route: Route = { method: 'GET', path: '/events', handle: () => ({ events: new IterableSource(events()) }) };
	const { port } = await start(t, [route], { limits: { heartbeatIntervalMs: HEARTBEAT_MS } });
	const streams = await Promise.all(
		installed.map(async ([outer, inner]) => openStream(t, `${await startChain(t, outer, inner, port)}/events`)),
	);
	// Without them, the proxies would have closed the streams by then.
	const heartbeats = (1.5 * READ_TIMEOUT_S * 1000) / HEARTBEAT_MS;
	for (const stream of streams) {
		await eventually(() => stream.text.split(':\n\n').length > heartbeats, 'enough heartbeats arrive');
	}
	release.resolve();
	for (const stream of streams) {
		await eventually(() => stream.isEnded, 'the stream ends');
		assert.match(stream.text, /"late"/);
	}
});
