import assert from 'node:assert/strict';
import { test } from 'node:test';
import { json, RawClient, start } from './harness.ts';

test('gives handlers the whole request: parameters, query, repeated headers, peer address', async (t) => {
	const { port } = await start(t, [
		{
			method: 'GET',
			path: '/things/{id}',
			handle: (request) =>
				json(200, {
					params: request.params,
					query: request.query.getAll('q'),
					list: request.header('x-list'),
					cookie: request.header('cookie'),
					absent: request.header('absent') ?? null,
					client: request.clientAddress,
					hasBody: request.hasBody,
				}),
		},
	]);
	const peer = new RawClient(t, port);
	peer.send(
		'GET /things/a%2Fb%20%C3%BC?q=1&q=%C3%A4+b HTTP/1.1\r\nHost: a\r\nX-List: 1\r\nX-LIST: 2\r\nCookie: a=1\r\n' +
			'Cookie: b=2\r\nConnection: close\r\n\r\n',
	);
	const body = Buffer.from((await peer.untilClosed()).split('\r\n\r\n')[1] as string, 'latin1').toString();
	assert.deepEqual(JSON.parse(body), {
		params: { id: 'a/b ü' },
		query: ['1', 'ä b'],
		list: '1, 2',
		cookie: 'a=1; b=2',
		absent: null,
		client: '127.0.0.1',
		hasBody: false,
	});
});

test('reads a single query parameter like the parsed query', async (t) => {
	const { url } = await start(t, [
		{
			method: 'GET',
			path: '/q',
			handle: (request) => ({ status: 200, body: JSON.stringify([request.queryValue('id'), request.query.get('id')]) }),
		},
	]);
	const queries = [
		'',
		'?',
		'?id',
		'?id=',
		'?id=a',
		'?id=a%20b',
		'?id=a+b',
		'?id=a=b',
		'?id=a&id=b',
		'?x=1&id=2',
		'?ids=1',
		'?i=1',
	];
	for (const query of [...queries, '?%69d=1', '?id=1#x']) {
		const [one, all] = (await (await fetch(`${url}/q${query}`)).json()) as (string | null)[];
		assert.equal(one, all, query);
	}
	assert.equal(await (await fetch(`${url}/q?id=dep_1-2`)).text(), '["dep_1-2","dep_1-2"]');
});

test('answers 400 to invalid percent-encoding in a path', async (t) => {
	const { port } = await start(t, [{ method: 'GET', path: '/things/{id}', handle: () => ({ status: 200 }) }]);
	for (const path of ['/things/%', '/things/%zz', '/things/%C3', '/%ff/x']) {
		const peer = new RawClient(t, port);
		peer.send(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
		assert.match(await peer.untilText('invalid_request'), /^HTTP\/1\.1 400 /);
	}
});
