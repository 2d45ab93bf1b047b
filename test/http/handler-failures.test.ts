import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError, deferred } from '../../src/base/index.ts';
import type { HttpRequest, Route, RouteResponse } from '../../src/http/index.ts';
import { codeOf, RawClient, start } from './harness.ts';

const hello: Route = { method: 'GET', path: '/hello', handle: () => ({ status: 200, body: 'hello' }) };
const never: Route = { method: 'GET', path: '/never', handle: () => new Promise<RouteResponse>(() => {}) };

test('answers 500 without the message when a handler throws, and continues', async (t) => {
	const secret = 'the password is tiger';
	const { url } = await start(t, [
		hello,
		{
			method: 'GET',
			path: '/sync',
			handle: () => {
				throw new Error(secret);
			},
		},
		{
			method: 'GET',
			path: '/async',
			handle: async () => {
				throw new Error(secret);
			},
		},
		{
			method: 'GET',
			path: '/unwritable',
			handle: () => ({ status: 200, headers: [null as unknown as readonly [string, string]] }),
		},
		{ method: 'GET', path: '/nothing', handle: () => undefined as unknown as RouteResponse },
		{ method: 'GET', path: '/nothing-later', handle: async () => null as unknown as RouteResponse },
		{
			method: 'GET',
			path: '/odd',
			handle: () => {
				throw 'a string';
			},
		},
	]);
	for (const path of ['/sync', '/async', '/nothing', '/nothing-later', '/odd']) {
		const response = await fetch(url + path);
		const text = await response.text();
		assert.equal(response.status, 500, path);
		assert.equal(codeOf(JSON.parse(text)), 'internal_error');
		assert.ok(!text.includes('tiger'));
	}
	await assert.rejects(fetch(`${url}/unwritable`), 'a response that cannot be written aborts the connection');
	assert.equal(await (await fetch(`${url}/hello`)).text(), 'hello');
});

test('answers an AppError with its status, code, details and Retry-After', async (t) => {
	const details = [{ path: '/name', message: 'must be a string' }];
	const { url } = await start(t, [
		{
			method: 'GET',
			path: '/limited',
			handle: async () => {
				throw new AppError('rate_limit_exceeded', 'Slow down.', { retry_after: 7, details });
			},
		},
	]);
	const response = await fetch(`${url}/limited`);
	assert.equal(response.status, 429);
	assert.equal(response.headers.get('retry-after'), '7');
	const id = response.headers.get('x-request-id');
	const error = { code: 'rate_limit_exceeded', message: 'Slow down.', retry_after: 7, details, request_id: id };
	assert.deepEqual(await response.json(), { error });
});

test('ignores a handler that fails after its client has left', async (t) => {
	const entered = deferred<HttpRequest>();
	const goOn = deferred<void>();
	const left = deferred<void>();
	const { port, url, server } = await start(t, [
		hello,
		{
			method: 'GET',
			path: '/slow',
			handle: async (request) => {
				request.signal.addEventListener('abort', () => left.resolve());
				entered.resolve(request);
				await goOn.promise;
				throw new Error('too late');
			},
		},
	]);
	const peer = new RawClient(t, port);
	peer.send('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
	const request = await entered.promise;
	peer.socket.destroy();
	await left.promise;
	assert.equal(request.signal.aborted, true);
	assert.equal(request.clientAddress, '127.0.0.1', 'what was known of the client stays known');
	goOn.resolve();
	await server.waitUntilIdle();
	assert.equal(await (await fetch(`${url}/hello`)).text(), 'hello');
});

test('answers 503 and aborts the signal when a handler reaches its deadline', async (t) => {
	let signal: AbortSignal | undefined;
	const { url } = await start(t, [
		{
			method: 'GET',
			path: '/never',
			responseTimeoutMs: 50,
			handle: (request) => {
				signal = request.signal;
				return new Promise<RouteResponse>(() => {});
			},
		},
	]);
	const response = await fetch(`${url}/never`);
	assert.equal(response.status, 503);
	assert.ok(Number(response.headers.get('retry-after')) > 0);
	assert.equal(codeOf(await response.json()), 'unavailable');
	assert.equal(signal?.aborted, true);
});

test("uses the server's deadline for a route without its own", async (t) => {
	const { url } = await start(t, [never], { limits: { responseTimeoutMs: 50 } });
	assert.equal((await fetch(`${url}/never`)).status, 503);
});

test('discards a response after the deadline, and closes its events', async (t) => {
	const response = deferred<RouteResponse>();
	const released = deferred<void>();
	const { url, server } = await start(t, [
		{ method: 'GET', path: '/late', responseTimeoutMs: 20, handle: () => response.promise },
	]);
	assert.equal((await fetch(`${url}/late`)).status, 503);
	const events = { open() {}, read: () => null, isEnded: false, close: () => released.resolve() };
	response.resolve({ events });
	await released.promise;
	await server.waitUntilIdle();
});

test('closes the connection of an immediate response that cannot be written, and continues', async (t) => {
	const { url } = await start(t, [
		{ method: 'GET', path: '/broken', handle: () => ({ status: 200, headers: [null as never], body: 'x' }) },
		{ method: 'GET', path: '/fine', handle: () => ({ status: 200, body: 'fine' }) },
	]);
	await assert.rejects(fetch(`${url}/broken`));
	assert.equal(await (await fetch(`${url}/fine`)).text(), 'fine');
});
