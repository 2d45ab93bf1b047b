import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import type { Log } from '../../src/base/index.ts';
import { codeOf, eventually, RawClient, start } from './harness.ts';

const GET = 'GET /hello HTTP/1.1\r\nHost: a\r\n\r\n';
const hello = { method: 'GET', path: '/hello', handle: () => ({ status: 200, body: 'hello' }) } as const;
const LIMIT = 20;

test('answers 503 to a connection beyond the limit and closes it, until another one ends', async (t) => {
	const lines: Array<{ level: number; msg: string }> = [];
	const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) }) as Log;
	const { port } = await start(t, [hello], { log, maxConnections: LIMIT });
	const held: RawClient[] = [];
	for (let count = 0; count < LIMIT; count++) {
		const peer = new RawClient(t, port);
		peer.send(GET);
		await peer.untilText('hello');
		held.push(peer);
	}
	for (let count = 0; count < 5; count++) {
		const text = await new RawClient(t, port).untilClosed();
		assert.match(text, /^HTTP\/1\.1 503 /);
		assert.match(text, /\r\nretry-after: \d+\r\n/);
		assert.match(text, /\r\nconnection: close\r\n/i);
		assert.equal(codeOf(JSON.parse(text.split('\r\n\r\n')[1] as string)), 'unavailable');
	}
	held[0]?.send(GET);
	await held[0]?.until(() => held[0]?.text.split('hello').length === 3);
	assert.deepEqual(
		lines.map(({ level }) => level),
		[40],
		'logged once',
	);
	for (const peer of held.splice(0, 5)) peer.socket.destroy();
	await eventually(() => lines.length === 2, 'the log says that connections are accepted again');
	const later = new RawClient(t, port);
	later.send(GET);
	await later.untilText('hello');
});
