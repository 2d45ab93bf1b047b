import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RawClient, start } from './harness.ts';

/** Requests that the HTTP library rejects before they are routed. */
const REFUSED: Record<string, string> = {
	'HTTP/1.0': 'GET /any HTTP/1.0\r\nHost: a\r\n\r\n',
	'a whole URL': 'GET http://a/any HTTP/1.1\r\nHost: a\r\n\r\n',
	CONNECT: 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n',
	'HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
	'bare line feeds': 'GET /any HTTP/1.1\nHost: a\n\n',
};

for (const [what, request] of Object.entries(REFUSED)) {
	test(`answers 505 to a request with ${what}, closes the connection and runs nothing`, async (t) => {
		let ran = 0;
		const handle = () => {
			ran += 1;
			return { status: 200 };
		};
		const { port } = await start(t, [
			{ method: 'GET', path: '/any', handle },
			{ method: 'GET', path: '/behind', handle },
		]);
		const peer = new RawClient(t, port);
		peer.send(`${request}GET /behind HTTP/1.1\r\nHost: a\r\n\r\n`);
		assert.match(await peer.untilClosed(), /^HTTP\/1\.1 505 (.*\r\n)*connection: close\r\n/i);
		assert.equal(ran, 0);
	});
}
