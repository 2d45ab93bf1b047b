import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RouteResponse } from '../../src/http/index.ts';
import { RawClient, start } from './harness.ts';

/** The bytes after the header block of each case must never run as a separate request. */
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
const AMBIGUOUS: Record<string, string> = {
	'a method that is not a token': '<GET /hello HTTP/1.1\r\nHost: a\r\n\r\n',
	'a method behind surplus bytes of a body': '"}GET /hello HTTP/1.1\r\nHost: a\r\n\r\n',
	'no Host': 'GET /hello HTTP/1.1\r\nAccept: */*\r\n\r\n',
	'an empty Host': 'GET /hello HTTP/1.1\r\nHost: \r\n\r\n',
	'two hosts in one header': 'GET /hello HTTP/1.1\r\nHost: a, b\r\n\r\n',
	'two Host headers': 'GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
	'two equal Host headers': 'GET /hello HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n',
	'two differing lengths': 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabc',
	'two equal lengths': 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc',
	'a list of lengths': 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\nabc',
	'a signed length': 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc',
	'a negative length': 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -3\r\n\r\nabc',
	'a hexadecimal length': 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\nabc',
	'an empty length': 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\nabc',
	'a length beyond all bounds': 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\nabc',
	'a length and a chunked body':
		'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
	'a chunked body and a length':
		'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
	'a coding that only looks like chunked':
		'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
	'a list of codings':
		'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
	'two codings':
		'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n',
	'an identity coding': 'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n',
	'an empty coding': 'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \r\n\r\n',
};

for (const [what, request] of Object.entries(AMBIGUOUS)) {
	test(`answers 400 to a request with ${what}, closes the connection and runs nothing that follows`, async (t) => {
		let ran = 0;
		const count = (): RouteResponse => {
			ran += 1;
			return { status: 200 };
		};
		const { port } = await start(t, [
			{ method: 'GET', path: '/hello', handle: count },
			{ method: 'GET', path: '/smuggled', handle: count },
			{ method: 'POST', path: '/echo', handle: count },
		]);
		const alone = new RawClient(t, port);
		alone.send(request);
		assert.match(await alone.untilClosed(), /^HTTP\/1\.1 400 .*?\r\n(.*\r\n)*connection: close\r\n/i);
		const followed = new RawClient(t, port);
		followed.send(request + SMUGGLED);
		assert.doesNotMatch(await followed.untilClosed(), /HTTP\/1\.1 200/);
		assert.equal(ran, 0);
	});
}
