// Own process: it measures the memory of the process.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { deferred, sleep } from '../../src/base/index.ts';
import { BodyBuffer } from '../../src/http/body-buffer.ts';
import { UNKNOWN_LENGTH } from '../../src/http/framing.ts';
import type { FilePart, MultipartOptions, Route } from '../../src/http/index.ts';
import { readMultipart } from '../../src/http/multipart.ts';
import { codeOf, eventually, json, RawClient, start } from './harness.ts';

interface Seen {
	name: string;
	fileName: string | null;
	contentType: string;
	size: number;
	hash: string;
}

/** A route that accepts any form and responds with what it received. */
function taking(options: Partial<MultipartOptions> = {}): Route {
	return {
		method: 'POST',
		path: '/form',
		handle: async (request) => {
			const files: Seen[] = [];
			const fields = await request.multipart({
				maxFileBytes: 1_000_000,
				maxFieldBytes: 1_000,
				async onFile({ name, fileName, contentType, pieces }) {
					const hash = createHash('sha256');
					let size = 0;
					for await (const bytes of pieces) {
						size += bytes.length;
						hash.update(bytes);
					}
					files.push({ name, fileName, contentType, size, hash: hash.digest('hex') });
				},
				...options,
			});
			return json(200, { files, fields });
		},
	};
}

function form(...parts: Array<{ head: string; body: string | Buffer }>): Buffer {
	const chunks = parts.flatMap(({ head, body }) => [`--XX\r\n${head}\r\n\r\n`, body, '\r\n']);
	return Buffer.concat([...chunks, '--XX--\r\n'].map((chunk) => Buffer.from(chunk)));
}

async function send(url: string, body: Buffer, contentType = 'multipart/form-data; boundary=XX') {
	const response = await fetch(`${url}/form`, { method: 'POST', body, headers: { 'content-type': contentType } });
	return { status: response.status, body: (await response.json()) as { files: Seen[]; fields: unknown[] } };
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

test('delivers files and fields in order, byte for byte', async (t) => {
	const { url } = await start(t, [taking()]);
	const first = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7919) % 256));
	const second = Buffer.from('\r\n--X\r\n--XY\r\n-\r\n');
	const data = new FormData();
	data.append('title', 'Größe €');
	data.append('file', new Blob([first], { type: 'application/pdf' }), 'a b.pdf');
	data.append('empty', '');
	data.append('more', new Blob([second]), 'two.bin');
	data.append('none', new Blob([]), 'none.txt');
	const response = await fetch(`${url}/form`, { method: 'POST', body: data });
	assert.deepEqual(await response.json(), {
		files: [
			{ name: 'file', fileName: 'a b.pdf', contentType: 'application/pdf', size: 300_000, hash: sha256(first) },
			{
				name: 'more',
				fileName: 'two.bin',
				contentType: 'application/octet-stream',
				size: second.length,
				hash: sha256(second),
			},
			{
				name: 'none',
				fileName: 'none.txt',
				contentType: 'application/octet-stream',
				size: 0,
				hash: sha256(Buffer.alloc(0)),
			},
		],
		fields: [
			{ name: 'title', value: 'Größe €' },
			{ name: 'empty', value: '' },
		],
	});
});

test('removes folders and control characters from file names, in any encoding of the name', async (t) => {
	const { url } = await start(t, [taking()]);
	const names: Array<[string, string | null]> = [
		['filename="../../etc/passwd"', 'passwd'],
		['filename="C:\\\\Users\\\\me\\\\report.pdf"', 'report.pdf'],
		['filename="Zürich – Übersicht.pdf"', 'Zürich – Übersicht.pdf'],
		["filename*=UTF-8''Z%C3%BCrich%20%E2%82%AC.pdf", 'Zürich €.pdf'],
		['filename=".."', null],
		['filename=""', null],
		['filename="a\u0007b\u0000.txt"', 'ab.txt'],
		[`filename="${'n'.repeat(400)}"`, 'n'.repeat(255)],
	];
	for (const [written, read] of names) {
		const { status, body } = await send(
			url,
			form({ head: `Content-Disposition: form-data; name="file"; ${written}`, body: 'x' }),
		);
		assert.equal(status, 200, written);
		assert.equal(body.files[0]?.fileName, read);
	}
});

test('treats a part with an invalid Content-Type as bytes', async (t) => {
	const { url } = await start(t, [taking()]);
	const types: Record<string, string> = {
		'text/plain; charset="utf-8"': 'text/plain',
		'application/vnd.a+b': 'application/vnd.a+b',
		'text/plain\u001b[2J': 'application/octet-stream',
		'text\u0000/plain': 'application/octet-stream',
		plain: 'application/octet-stream',
		['x/'.padEnd(300, 'x')]: 'application/octet-stream',
	};
	for (const [given, seen] of Object.entries(types)) {
		const head = `Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: ${given}`;
		const { body } = await send(url, form({ head, body: 'a' }));
		assert.equal(body.files[0]?.contentType.split(';')[0], seen, JSON.stringify(given));
	}
	const { body } = await send(
		url,
		form({ head: 'Content-Disposition: form-data; name="file"; filename="a"', body: 'a' }),
	);
	assert.match(body.files[0]?.contentType ?? '', /^[a-z]+\/[a-z-]+$/);
});

test('accepts a file of exactly the limit; answers 413 to one byte more and fails its reader', async (t) => {
	const failures: unknown[] = [];
	const { url } = await start(t, [
		taking({
			maxFileBytes: 200_000,
			async onFile({ pieces }) {
				try {
					for await (const _ of pieces);
				} catch (error) {
					failures.push(error);
					throw error;
				}
			},
		}),
	]);
	const head = 'Content-Disposition: form-data; name="file"; filename="a"';
	assert.equal((await send(url, form({ head, body: Buffer.alloc(200_000) }))).status, 200);
	assert.equal(failures.length, 0);
	const over = await send(url, form({ head, body: Buffer.alloc(200_001) }));
	assert.equal(over.status, 413);
	assert.equal(codeOf(over.body), 'payload_too_large');
	assert.match(String(failures[0]), /larger than 200000 bytes/);
});

test('answers a file far over the limit while it is still being sent', async (t) => {
	const { port } = await start(t, [taking({ maxFileBytes: 10_000 })], { limits: { lingeringCloseMs: 50 } });
	const peer = new RawClient(t, port);
	peer.send(
		'POST /form HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=XX\r\nContent-Length: 900000000\r\n\r\n',
	);
	peer.send('--XX\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
	peer.send('x'.repeat(20_000));
	assert.match(await peer.untilClosed(), /^HTTP\/1\.1 413 .*payload_too_large/s);
});

test('answers a body whose announced length is too large before it arrives', async (t) => {
	const limits = { maxFileBytes: 10_000, maxBodyBytes: 20_000 };
	const { url, port } = await start(t, [taking(limits)], { limits: { lingeringCloseMs: 50 } });
	const head = 'Content-Disposition: form-data; name="file"; filename="a"';
	assert.equal((await send(url, form({ head, body: 'x'.repeat(10_000) }))).status, 200);
	const peer = new RawClient(t, port);
	peer.send(
		'POST /form HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=XX\r\nContent-Length: 20001\r\n\r\n',
	);
	assert.match(await peer.untilClosed(), /^HTTP\/1\.1 413 .*The file is larger than 10000 bytes/s);
});

test('limits the size and the number of fields', async (t) => {
	const { url } = await start(t, [taking({ maxFieldBytes: 10 })]);
	const field = (body: string) => ({ head: 'Content-Disposition: form-data; name="a"', body });
	assert.equal((await send(url, form(field('0123456789')))).status, 200);
	assert.equal((await send(url, form(field('0123456789x')))).status, 413);
	assert.equal((await send(url, form(...Array.from({ length: 200 }, () => field('x'))))).status, 413);
});

test('answers 400 to a malformed form', async (t) => {
	const { url } = await start(t, [taking()]);
	const head = 'Content-Disposition: form-data; name="file"; filename="a"';
	const whole = form({ head, body: 'x'.repeat(1_000) });
	const cases: Array<[Buffer, string | undefined, string]> = [
		[whole, 'application/json', 'unsupported_content_type'],
		[whole, 'multipart/mixed; boundary=XX', 'unsupported_content_type'],
		[whole, 'multipart/form-data; charset=utf-8', 'invalid_request'],
		[whole.subarray(0, 500), undefined, 'invalid_request'],
		[whole.subarray(0, 20), undefined, 'invalid_request'],
		[Buffer.from('no form at all'), undefined, 'invalid_request'],
		[form({ head: 'Content-Disposition: form-data; filename="a"', body: 'x' }), undefined, 'invalid_request'],
		[form({ head: 'Content-Disposition: form-data', body: 'x' }), undefined, 'invalid_request'],
	];
	for (const [body, type, code] of cases) {
		const response = await send(url, body, type);
		assert.equal(response.status, 400, code);
		assert.equal(codeOf(response.body), code);
	}
	const none = await fetch(`${url}/form`, { method: 'POST' });
	assert.equal(codeOf(await none.json()), 'unsupported_content_type');
	assert.equal((await send(url, whole)).status, 200, 'the server continues');
});

test('ignores parts that are not form data, of any size', async (t) => {
	const { url } = await start(t, [taking()]);
	const body = Buffer.alloc(70_000, 'z');
	for (const head of ['X-Odd: y', 'Content-Disposition: attachment', 'Content-Type: text/plain']) {
		const file = { head: 'Content-Disposition: form-data; name="file"; filename="a"', body: 'x' };
		const response = await send(url, form({ head, body }, file, { head, body }));
		assert.equal(response.status, 200, head);
		assert.equal(response.body.files.length, 1);
	}
	const preamble = Buffer.concat([body, Buffer.from('\r\n'), form()]);
	assert.equal((await send(url, preamble)).status, 200);
});

test('handles files one after the other, and an unread file does not block the next', async (t) => {
	const order: string[] = [];
	const { url } = await start(t, [
		taking({
			async onFile({ name, pieces }) {
				order.push(`+${name}`);
				if (name !== 'skipped') for await (const _ of pieces);
				order.push(`-${name}`);
			},
		}),
	]);
	const data = new FormData();
	for (const name of ['one', 'skipped', 'two']) data.append(name, new Blob([Buffer.alloc(400_000)]), name);
	assert.equal((await fetch(`${url}/form`, { method: 'POST', body: data })).status, 200);
	assert.deepEqual(order, ['+one', '-one', '+skipped', '-skipped', '+two', '-two']);
});

test('applies backpressure to the client while the reader is slow', async (t) => {
	const opened = deferred<void>();
	const goOn = deferred<void>();
	const { port, server } = await start(t, [
		taking({
			maxFileBytes: 200_000_000,
			async onFile({ pieces }) {
				opened.resolve();
				await goOn.promise;
				for await (const _ of pieces);
			},
		}),
	]);
	const size = 100_000_000;
	const before = '--XX\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
	const after = '\r\n--XX--\r\n';
	const peer = new RawClient(t, port);
	peer.send('POST /form HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=XX\r\n');
	peer.send(`Content-Length: ${before.length + size + after.length}\r\n\r\n${before}`);
	const rss = process.memoryUsage().rss;
	const chunk = Buffer.alloc(1_000_000);
	let sent = 0;
	const pump = (): void => {
		while (sent < size) {
			sent += chunk.length;
			if (!peer.socket.write(chunk)) return void peer.socket.once('drain', pump);
		}
		peer.socket.write(after);
	};
	pump();
	await opened.promise;
	// When the socket's buffers are full, several iterations of the event loop pass without progress.
	let still = 0;
	let last = -1;
	await eventually(() => {
		still = peer.socket.bytesWritten === last ? still + 1 : 0;
		last = peer.socket.bytesWritten;
		return still > 2_000;
	}, 'the client is held back');
	assert.ok(sent < size / 2, `${sent} bytes were taken from the client`);
	assert.ok(process.memoryUsage().rss - rss < 60_000_000);
	goOn.resolve();
	assert.match(await peer.untilText('\r\n\r\n'), /^HTTP\/1\.1 200/);
	await server.waitUntilIdle();
});

test('the reader of a file fails when the client leaves', async (t) => {
	const failed = deferred<unknown>();
	const opened = deferred<void>();
	const { port, server } = await start(t, [
		taking({
			async onFile({ pieces }) {
				opened.resolve();
				try {
					for await (const _ of pieces);
				} catch (error) {
					failed.resolve(error);
					throw error;
				}
			},
		}),
	]);
	const peer = new RawClient(t, port);
	peer.send(
		'POST /form HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=XX\r\nContent-Length: 9000\r\n\r\n',
	);
	peer.send('--XX\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nsome');
	await opened.promise;
	peer.socket.destroy();
	assert.match(String(await failed.promise), /client left/);
	await server.waitUntilIdle();
});

test('responds with the failure of a file handler and does not handle the rest of the form', async (t) => {
	const handled: string[] = [];
	const { url } = await start(t, [
		taking({
			async onFile({ name }) {
				handled.push(name);
				throw new Error('disk full');
			},
		}),
	]);
	const data = new FormData();
	for (const name of ['one', 'two']) data.append(name, new Blob([Buffer.alloc(300_000)]), name);
	const response = await fetch(`${url}/form`, { method: 'POST', body: data });
	assert.equal(response.status, 500);
	assert.equal(codeOf(await response.json()), 'internal_error');
	assert.deepEqual(handled, ['one']);
});

test('uploads at the same time get their own bytes, although memory is used again and each is read slowly', async (t) => {
	const { url } = await start(t, [
		taking({
			maxFileBytes: 5_000_000,
			async onFile({ name, pieces }) {
				const hash = createHash('sha256');
				for await (const piece of pieces) {
					// The bytes must stay as they are until the next piece is asked for.
					for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
					hash.update(piece);
				}
				read.set(name, hash.digest('hex'));
			},
		}),
	]);
	const read = new Map<string, string>();
	const sent = new Map<string, string>();
	const upload = async (name: string) => {
		const bytes = randomBytes(4_000_000);
		sent.set(name, sha256(bytes));
		const head = `content-disposition: form-data; name="${name}"; filename="f"`;
		assert.equal((await send(url, form({ head, body: bytes }))).status, 200);
	};
	for (let round = 0; round < 3; round++) {
		await Promise.all(Array.from({ length: 4 }, (_, at) => upload(`${round}-${at}`)));
	}
	assert.deepEqual(new Map([...read].sort()), new Map([...sent].sort()));
});

test('the pieces of a body that is read at once share few buffers', async (t) => {
	const buffers = new Set<ArrayBufferLike>();
	let consumed = 0;
	const body = new BodyBuffer({ pause() {}, resume() {} }, 60_000);
	t.after(() => body.stopTimer());
	const outcome = readMultipart(
		body,
		{ contentType: 'multipart/form-data; boundary=XX', announcedBytes: UNKNOWN_LENGTH },
		{
			...{ maxFileBytes: 2_000_000, maxFieldBytes: 1_000 },
			async onFile({ pieces }) {
				for await (const piece of pieces) {
					consumed += piece.length;
					if (piece.length > 1_000) buffers.add(piece.buffer);
				}
			},
		},
	);
	const bytes = form({ head: 'content-disposition: form-data; name="f"; filename="f"', body: Buffer.alloc(1_900_000) });
	for (let at = 0; at < bytes.length; at += 100_000) {
		body.push(bytes.subarray(at, at + 100_000), at + 100_000 >= bytes.length);
		await eventually(() => consumed >= Math.min(at, 1_900_000) - 1_000, 'the piece is read');
	}
	await outcome;
	assert.equal(consumed, 1_900_000);
	assert.ok(buffers.size <= 6, `${buffers.size} buffers for 20 pieces`);
});

test('reading from the client goes on only when all that has arrived is consumed', async (t) => {
	let consumed = 0;
	const consumedAtResume: number[] = [];
	const flow = { pause() {}, resume: () => void consumedAtResume.push(consumed) };
	const body = new BodyBuffer(flow, 60_000);
	t.after(() => body.stopTimer());
	const outcome = readMultipart(
		body,
		{ contentType: 'multipart/form-data; boundary=XX', announcedBytes: UNKNOWN_LENGTH },
		{
			...{ maxFileBytes: 1_000_000, maxFieldBytes: 1_000 },
			async onFile({ pieces }) {
				for await (const bytes of pieces) consumed += bytes.length;
			},
		},
	);
	const bytes = form({ head: 'content-disposition: form-data; name="f"; filename="f"', body: Buffer.alloc(900_000) });
	// As the library delivers what it had read before the pause.
	for (let at = 0; at < 800_000; at += 100_000) body.push(bytes.subarray(at, at + 100_000), false);
	await eventually(() => consumedAtResume.length > 0, 'reading goes on');
	// The rest is in the buffers of the parser and the reader.
	assert.ok((consumedAtResume[0] ?? 0) > 700_000, `reading went on after ${consumedAtResume[0]} bytes`);
	body.push(bytes.subarray(800_000), true);
	await outcome;
	assert.equal(consumed, 900_000);
});

/** Sends forms over one connection. Of 900,000 bytes, the library reads and delivers all, although reading is paused meanwhile. */
function formClient(t: TestContext, port: number) {
	const client = new RawClient(t, port);
	const head = 'content-disposition: form-data; name="f"; filename="f"';
	return {
		client,
		post(size: number) {
			const body = form({ head, body: Buffer.alloc(size) });
			client.send(
				`POST /form HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=XX\r\ncontent-length: ${body.length}\r\n\r\n`,
			);
			client.send(body);
		},
		/** Waits until there are so many answers. */
		async untilAnswered(count: number) {
			await client.until(() => client.text.split('HTTP/1.1 ').length === count + 1 || client.closed);
			assert.equal(client.closed, false, `closed before answer ${count}`);
		},
	};
}

/** Takes a part of a file, and leaves the rest. */
async function readPart(pieces: AsyncIterable<Uint8Array>): Promise<void> {
	let size = 0;
	for await (const bytes of pieces) {
		size += bytes.length;
		if (size >= 200_000) return;
	}
}

test('a connection takes further requests after an upload whose handler failed while all of it was there', async (t) => {
	let isSmall = false;
	const { port } = await start(t, [
		taking({
			async onFile({ pieces }) {
				if (!isSmall) {
					await readPart(pieces);
					await sleep(50);
				}
				throw new Error('disk full');
			},
		}),
	]);
	const { post, untilAnswered } = formClient(t, port);
	for (const [sent, size] of [900_000, 30_000, 30_000, 30_000].entries()) {
		post(size);
		await untilAnswered(sent + 1);
		isSmall = true;
	}
});

test('an upload that was there while its handler took long is answered, and so is the next one', async (t) => {
	const { port } = await start(t, [
		taking({
			async onFile({ pieces }) {
				await readPart(pieces);
				// Longer than the library waits for a client.
				await sleep(13_000);
			},
		}),
	]);
	const { post, untilAnswered } = formClient(t, port);
	for (const count of [1, 2]) {
		post(900_000);
		await untilAnswered(count);
	}
});

test('a stream that responds to such an upload stays open, and its connection closes with it', async (t) => {
	const updates = [{ event: 'one', data: '{}' }];
	const events = {
		reader: { onReadable() {} },
		isEnded: false,
		open(reader: { onReadable(): void }) {
			events.reader = reader;
		},
		read: () => updates.shift() ?? null,
		close() {},
	};
	const onFile = async ({ pieces }: FilePart) => {
		await readPart(pieces);
		await sleep(50);
	};
	const handle: Route['handle'] = async (request) => {
		await request.multipart({ maxFileBytes: 1_000_000, maxFieldBytes: 1_000, onFile });
		return { events };
	};
	const { port } = await start(t, [{ method: 'POST', path: '/form', handle }]);
	const { client, post } = formClient(t, port);
	post(900_000);
	await client.untilText('event: one');
	// Longer than the library waits for a client.
	await sleep(13_000);
	assert.equal(client.closed, false);
	updates.push({ event: 'two', data: '{}' });
	events.isEnded = true;
	events.reader.onReadable();
	assert.match(await client.untilClosed(), /event: two/);
});
