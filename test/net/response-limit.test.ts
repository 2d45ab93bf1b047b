import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { createNetwork } from '../../src/net/index.ts';
import { httpServer, tcpServer } from './servers.ts';

const KEY_SET = { purpose: 'key_set', timeoutMs: 60_000 } as const;
/** What is read of the response to a request for a key set. */
const MAX_KEY_SET_RESPONSE = 2 * 1024 * 1024;

/** Sends the beginning, then the rest again and again until the connection is closed. */
function floods(beginning: string, rest: string): (socket: Socket) => void {
	const chunk = rest.repeat(1_000);
	return (socket) => {
		const pour = () => {
			while (!socket.destroyed && socket.write(chunk));
		};
		socket.on('drain', pour);
		socket.once('data', () => {
			socket.write(beginning);
			pour();
		});
	};
}

test('refuses a download whose response has no end outside its body', async () => {
	const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
	const responses: Array<[beginning: string, rest: string, error: RegExp]> = [
		['', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', /larger than 2097152 bytes, headers and framing included/],
		['', 'HTTP/1.1 100 Continue\r\n\r\n', /larger than 2097152 bytes, headers and framing included/],
		[`${chunked}1;`, 'a', /larger than 2097152 bytes, headers and framing included/],
		// undici limits heads and trailers, so these end earlier.
		[`${chunked}0\r\n`, 'a: b\r\n', /broke off before the file was complete/],
		['HTTP/1.1 200 OK\r\n', 'a: b\r\n', /broke off before the file was complete/],
	];
	for (const [beginning, rest, message] of responses) {
		await using server = await tcpServer(floods(beginning, rest));
		await using network = createNetwork({ allowPrivateNetwork: true });
		await assert.rejects(
			async () => {
				await using file = await network.download(server.origin, KEY_SET);
				for await (const _chunk of file.body);
			},
			{ code: 'unreadable_file', message },
		);
	}
});

test('counts each response of a connection from its own beginning, also after a body that was read slowly', async () => {
	const bytes = Buffer.alloc(MAX_KEY_SET_RESPONSE - 1_000, 'a');
	await using server = await httpServer((_request, response) => void response.end(bytes));
	await using network = createNetwork({ allowPrivateNetwork: true });
	for (let turn = 0; turn < 10; turn++) {
		await using file = await network.download(server.origin, KEY_SET);
		let size = 0;
		for await (const chunk of file.body) {
			size += chunk.length;
			await yieldToEventLoop();
		}
		assert.equal(size, bytes.length);
	}
	assert.ok(server.connections < 10, `the connections are kept: there were ${server.connections}`);
});
