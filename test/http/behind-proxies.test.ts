import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Route } from '../../src/http/index.ts';
import { json, RawClient, start } from './harness.ts';
import { PROXIES, startProxy } from './proxies.ts';

const HEAD = 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';

/** Requests that a proxy and the server could read differently. */
const DOUBTFUL: Record<string, string> = {
	'two bytes in the place of the last line break': `${CHUNKED}6\r\n"body"\r\n0\r\nXX${SMUGGLED}`,
	'a bare line feed behind a size': `${CHUNKED}6\n"body"\r\n0\r\n\r\n`,
	'a request in a chunk extension': `${CHUNKED}6;x=\n"body"\r\n0\r\n\r\n${SMUGGLED}`,
	'wrong bytes behind the data of a chunk': `${CHUNKED}6\r\n"body"XX0\r\n\r\n${SMUGGLED}`,
	'blanks behind a size': `${CHUNKED}6  \r\n"body"\r\n0\r\n\r\n`,
	trailers: `${CHUNKED}6\r\n"body"\r\n0\r\nX-Sum: 1\r\n\r\n`,
	'a request as trailers': `${CHUNKED}6\r\n"body"\r\n0\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n`,
	'a length behind a header without a name': `${HEAD}: x\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
	'a length and chunks': `${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
};

function routes(smuggled: () => void): Route[] {
	return [
		{
			method: 'POST',
			path: '/echo',
			handle: async (request) => json(200, { body: await request.json() }),
		},
		{
			method: 'GET',
			path: '/smuggled',
			handle() {
				smuggled();
				return { status: 200, body: 'smuggled' };
			},
		},
		{
			method: 'GET',
			path: '/mine/{name}',
			handle: ({ params }) => ({ status: 200, body: `for ${params.name}` }),
		},
	];
}

for (const proxy of PROXIES) {
	const options = { skip: proxy.program === null ? `${proxy.name} is not installed` : false };

	test(`answers chunked requests behind ${proxy.name}, also with chunk extensions`, options, async (t) => {
		const { port } = await start(
			t,
			routes(() => {}),
		);
		const front = await startProxy(t, proxy, port);
		for (const body of [
			'6\r\n"body"\r\n0\r\n\r\n',
			'6;a=b\r\n"body"\r\n0\r\n\r\n',
			'3\r\n"bo\r\n3\r\ndy"\r\n0\r\n\r\n',
		]) {
			const peer = new RawClient(t, front);
			peer.send(CHUNKED + body);
			assert.match(await peer.untilText('{"body":"body"}'), /^HTTP\/1\.1 200 /);
		}
	});

	test(`mixes no ambiguous request with the responses of others behind ${proxy.name}`, options, async (t) => {
		let smuggled = 0;
		const { port } = await start(
			t,
			routes(() => {
				smuggled += 1;
			}),
		);
		const front = await startProxy(t, proxy, port);
		for (const [what, request] of Object.entries(DOUBTFUL)) {
			smuggled = 0;
			const peer = new RawClient(t, front);
			peer.send(request);
			await peer.until(() => peer.closed || peer.text.includes('\r\n\r\n'));
			for (let count = 0; count < 5; count++) {
				const response = await fetch(`http://127.0.0.1:${front}/mine/${count}`);
				assert.equal(await response.text(), `for ${count}`, what);
			}
			// If the proxy reads a separate request there, this client receives the response.
			assert.equal(smuggled, peer.text.split('\r\n\r\nsmuggled').length - 1, what);
			peer.socket.destroy();
		}
	});
}
