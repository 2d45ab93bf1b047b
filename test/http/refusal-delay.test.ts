import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sleep } from '../../src/base/index.ts';
import type { Route } from '../../src/http/index.ts';
import { REFUSAL_DELAY_MS, RefusalDelay } from '../../src/http/refusal-delay.ts';
import { until } from '../support/until.ts';
import { RawClient, start } from './harness.ts';

const refusing: Route = { method: 'GET', path: '/refusing', handle: () => ({ status: 429, body: 'Too many.' }) };
const refusingLater: Route = { ...refusing, path: '/later', handle: async () => ({ status: 401, body: 'Who?' }) };

test('a network waits for its refusals after 100 of them in a second, and another one does not', () => {
	let now = 0;
	const delay = new RefusalDelay(() => now);
	const next = (address: string) => delay.mustWait(address);
	assert.ok(!Array.from({ length: 100 }, () => next('192.0.2.1')).includes(true));
	assert.equal(next('192.0.2.1'), true);
	assert.equal(next('192.0.2.2'), false);
	now += 1_000;
	assert.equal(next('192.0.2.1'), false);
	// All addresses of a /64 are one client.
	const addresses = Array.from({ length: 101 }, (_, at) => `2001:db8::${at.toString(16)}`);
	assert.deepEqual(addresses.map(next).lastIndexOf(true), 100);
	assert.equal(next('2001:db8:0:1::1'), false);
});

for (const path of ['/refusing', '/later']) {
	test(`a flood of refused requests to ${path} gets its answers whole, and late`, async (t) => {
		const { url } = await start(t, [refusing, refusingLater]);
		const stop = new AbortController();
		let longest = 0;
		const lanes = Array.from({ length: 20 }, async () => {
			while (!stop.signal.aborted) {
				const begun = performance.now();
				const response = await fetch(url + path);
				assert.match(await response.text(), /^(Too many\.|Who\?)$/);
				longest = Math.max(longest, performance.now() - begun);
			}
		});
		await until('a refusal is late', () => longest >= REFUSAL_DELAY_MS - 50);
		stop.abort();
		await Promise.all(lanes);
	});
}

test('a refusal is late, too, where the body of its request arrives after it was chosen', async (t) => {
	const { port } = await start(t, [{ ...refusingLater, method: 'POST' }]);
	const clients = Array.from({ length: 20 }, () => new RawClient(t, port));
	const stop = new AbortController();
	let longest = 0;
	const lanes = clients.map(async (client) => {
		for (let answers = 1; !stop.signal.aborted; answers++) {
			client.send('POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n');
			// The refusal is chosen meanwhile.
			await sleep(5);
			const begun = performance.now();
			client.send('x');
			await client.until(() => client.text.split('Who?').length > answers);
			longest = Math.max(longest, performance.now() - begun);
		}
	});
	await until('a refusal is late', () => longest >= REFUSAL_DELAY_MS - 50);
	stop.abort();
	await Promise.all(lanes);
});

test('a delayed refusal holds up neither its client’s leaving nor the end of the server', async (t) => {
	const { server, port } = await start(t, [refusing]);
	const clients = Array.from({ length: 300 }, () => new RawClient(t, port));
	for (const client of clients) client.send('GET /refusing HTTP/1.1\r\nHost: a\r\n\r\n');
	await until('a hundred are refused', () => clients.filter(({ text }) => text !== '').length >= 100);
	for (const client of clients.slice(0, 250)) client.socket.destroy();
	server.drain();
	await server.waitUntilIdle();
	await until('the others have their refusals', () => clients.slice(250).every(({ text }) => text.includes('429')));
});
