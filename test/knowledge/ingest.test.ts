import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { eventsSoFar, firstWorkspace, openStoreDirectly } from '../api/direct-store.ts';
import { createResource, SAMPLES, untilProcessed, untilSettled, untilTrained, upload } from '../api/fixture.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { PausablePool } from './pausable-pool.ts';

const MAX_UPLOAD = 200_000;
const BASES = '/api/v1/knowledge-bases';
const pool = new PausablePool();
const app = await startTestApp({ settings: { max_upload_bytes: MAX_UPLOAD }, overrides: { pool } });
after(() => app[Symbol.asyncDispose]());

const newBase = () => createResource(app, BASES, { name: 'Shop' });

/** The files in the folder of uploads, partial files included. */
async function filesOf({ dataDir }: TestApp): Promise<string[]> {
	const entries = await readdir(join(dataDir, 'blobs'), { recursive: true, withFileTypes: true });
	return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

async function indexedEvents(of: TestApp, knowledgeBase: string) {
	await using store = await openStoreDirectly(of);
	const events = await eventsSoFar(store, await firstWorkspace(store), 'knowledge_base.indexed');
	return events.map(({ data }) => data as Record<string, unknown>).filter(({ id }) => id === knowledgeBase);
}

const addText = (knowledgeBase: string, content: string, title?: string) =>
	app.call('POST', `${BASES}/${knowledgeBase}/documents`, { source_type: 'text', content, title });

const search = async (knowledgeBase: string, query: string) =>
	(await app.call('POST', `${BASES}/${knowledgeBase}/search`, { query })).body.data;

test('uploads, indexes and finds each of the five formats, and changes the status from indexing to ready once', async () => {
	const base = await newBase();
	pool.pause();
	const ids = new Map<string, string>();
	for (const name of SAMPLES) {
		const { status, body } = await upload(app, base, name);
		assert.equal(status, 201, JSON.stringify(body));
		assert.deepEqual(
			[
				body.knowledge_base_id,
				body.source_type,
				body.file_name,
				body.url,
				body.error,
				body.indexed_at,
				body.chunk_count,
			],
			[base, 'file', name, null, null, null, 0],
		);
		assert.ok(['queued', 'processing'].includes(body.status));
		ids.set(name, body.id);
	}
	await until('a file is being processed', () => pool.waiting > 0);
	const { body: busy } = await app.call('GET', `${BASES}/${base}/status`);
	assert.deepEqual(busy, {
		status: 'indexing',
		documents_total: 5,
		documents_indexed: 0,
		documents_failed: 0,
		searchable: false,
		last_indexed_at: null,
		trained_at: null,
		embedder: null,
		reindex_required: false,
		reindex: null,
		problem: null,
	});
	assert.equal((await app.call('GET', `${BASES}/${base}`)).body.status, 'indexing');
	assert.deepEqual(await indexedEvents(app, base), []);

	pool.resume();
	const ready = await untilSettled(app, base);
	assert.deepEqual(
		{ ...ready, last_indexed_at: '', trained_at: '' },
		{
			status: 'ready',
			documents_total: 5,
			documents_indexed: 5,
			documents_failed: 0,
			searchable: true,
			last_indexed_at: '',
			trained_at: '',
			embedder: 'builtin',
			reindex_required: false,
			reindex: null,
			problem: null,
		},
	);
	const trained = await untilTrained(app, base);
	assert.deepEqual({ ...trained, trained_at: '' }, { ...ready, trained_at: '' });
	assert.equal(
		new Date(trained.trained_at).toISOString(),
		trained.trained_at,
		'the basis that serves covers all of them',
	);
	assert.ok(trained.trained_at >= ready.last_indexed_at, 'the documents did not wait for the tuned training');
	const { body } = await app.call('GET', `${BASES}/${base}/documents`);
	const documents = new Map(body.data.map((document: { file_name: string }) => [document.file_name, document]));
	const titles: Record<string, string> = {};
	for (const name of SAMPLES) {
		// biome-ignore lint/suspicious/noExplicitAny: the test is about the shape of the response
		const document = documents.get(name) as any;
		assert.equal(document.id, ids.get(name));
		assert.deepEqual([document.status, document.error, document.language], ['indexed', null, 'en'], name);
		assert.ok(document.chunk_count > 0);
		assert.equal(new Date(document.indexed_at).toISOString(), document.indexed_at);
		assert.equal(document.page_count, name.endsWith('.pdf') ? 3 : null);
		const bytes = await readFile(new URL(`../../data/samples/${name}`, import.meta.url));
		assert.equal(document.size_bytes, bytes.length);
		titles[name] = document.title;
	}
	assert.equal(titles['brook-kettle-manual.pdf'], 'Brook HB-170 kettle: user manual');

	const answers: Array<[query: string, name: string]> = [
		['What does error code E3 mean?', 'brook-kettle-manual.pdf'],
		['What does shipping to Germany cost?', 'shipping-and-returns.docx'],
		['When is the shop open on Saturday?', 'visit-and-contact.html'],
		['How long is the warranty on the heating element?', 'warranty-and-repair.md'],
		['How long do you keep chat conversations?', 'privacy.txt'],
	];
	for (const [query, name] of answers) assert.equal((await search(base, query))[0].document_id, ids.get(name), query);

	const told = await indexedEvents(app, base);
	assert.equal(told.length, 1, 'one indexing, one event');
	const { body: whole } = await app.call('GET', `${BASES}/${base}`);
	assert.deepEqual(told[0], { ...whole, ...ready });
});

test('lists chunks in reading order, page by page', async () => {
	const base = await newBase();
	const { body: added } = await upload(app, base, 'brook-kettle-manual.pdf');
	const document = await untilProcessed(app, base, added.id);
	const path = `${BASES}/${base}/documents/${added.id}/chunks`;
	const { body } = await app.call('GET', `${path}?limit=100`);
	assert.equal(body.data.length, document.chunk_count);
	assert.deepEqual(
		body.data.map(({ position, id }: { position: number; id: string }) => [position, id]),
		body.data.map((_: unknown, at: number) => [at, `${added.id}.${at}`]),
	);
	const pages = body.data.map(({ page }: { page: number }) => page);
	assert.deepEqual(pages, [...pages].sort());
	assert.ok(
		body.data.every(
			({ text, heading_path }: { text: string; heading_path: unknown }) => text !== '' && Array.isArray(heading_path),
		),
	);
	const first = await app.call('GET', `${path}?limit=1`);
	const second = await app.call('GET', `${path}?limit=1&cursor=${first.body.next_cursor}`);
	assert.deepEqual([...first.body.data, ...second.body.data], body.data.slice(0, 2));
	assert.equal((await app.call('GET', `${path}?order=desc`)).status, 400);
});

test('an inline text is a document like any other', async () => {
	const base = await newBase();
	const { status, body } = await addText(base, 'Wir öffnen um 9 Uhr. '.repeat(3), 'Öffnungszeiten');
	assert.equal(status, 201);
	assert.deepEqual(
		[body.source_type, body.title, body.file_name, body.url, body.size_bytes],
		['text', 'Öffnungszeiten', null, null, Buffer.byteLength('Wir öffnen um 9 Uhr. '.repeat(3))],
	);
	const document = await untilProcessed(app, base, body.id);
	assert.deepEqual([document.status, document.chunk_count, document.page_count], ['indexed', 1, null]);
	assert.match((await search(base, 'Wann öffnen Sie?'))[0].text, /um 9 Uhr/);
});

test('parses the same bytes once for two documents, and removing one leaves the other', async () => {
	const base = await newBase();
	const before = pool.parsed;
	const bytes = '# Tea\n\nGreen tea is brewed at eighty degrees.\n';
	const answers = await Promise.all([1, 2, 3].map(() => upload(app, base, 'tea.md', { bytes })));
	const [first, second, third] = answers.map(({ body }) => body.id);
	assert.equal(new Set([first, second, third]).size, 3);
	assert.deepEqual((await untilSettled(app, base)).documents_indexed, 3);
	assert.equal(pool.parsed - before, 1);
	const files = await filesOf(app);
	await app.call('DELETE', `${BASES}/${base}/documents/${first}`);
	await app.call('DELETE', `${BASES}/${base}/documents/${third}`);
	assert.deepEqual(await filesOf(app), files);
	const hits = await search(base, 'How hot is green tea brewed?');
	assert.deepEqual(
		hits.map(({ document_id }: { document_id: string }) => document_id),
		[second],
	);
	await app.call('DELETE', `${BASES}/${base}/documents/${second}`);
	assert.equal((await filesOf(app)).length, files.length - 1);
	assert.deepEqual(await search(base, 'How hot is green tea brewed?'), []);
});

test('rejects an unacceptable upload with a reason and leaves nothing of it on disk', async () => {
	const base = await newBase();
	const files = await filesOf(app);
	const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
	const refused: Array<
		[what: string, answer: Promise<{ status: number; body: { error: { code: string } } }>, expected: [number, string]]
	> = [
		['a picture', upload(app, base, 'logo.png', { bytes: png, type: 'image/png' }), [400, 'unsupported_file_type']],
		['a picture called .txt', upload(app, base, 'logo.txt', { bytes: png }), [400, 'unsupported_file_type']],
		[
			'a program',
			upload(app, base, 'run.md', { bytes: Buffer.from('7f454c46020101000000', 'hex') }),
			[400, 'unsupported_file_type'],
		],
		['an empty file', upload(app, base, 'empty.txt', { bytes: '' }), [400, 'no_text']],
		[
			'a file too large',
			upload(app, base, 'large.txt', { bytes: 'a '.repeat(MAX_UPLOAD) }),
			[413, 'payload_too_large'],
		],
		[
			'a title too long',
			upload(app, base, 'a.txt', { bytes: 'A text.', title: 'x'.repeat(501) }),
			[400, 'invalid_request'],
		],
	];
	for (const [what, pending, expected] of refused) {
		const { status, body } = await pending;
		assert.deepEqual([status, body.error.code], expected, what);
	}
	const forms: Array<[what: string, fill: (form: FormData) => void]> = [
		['no file', (form) => form.set('title', 'Alone')],
		['another part', (form) => form.set('attachment', new Blob(['A text.']), 'a.txt')],
		[
			'an unknown field',
			(form) => {
				form.set('file', new Blob(['A text.']), 'a.txt');
				form.set('tags', 'x');
			},
		],
		[
			'two files',
			(form) => {
				for (const name of ['a.txt', 'b.txt']) form.append('file', new Blob(['A text.']), name);
			},
		],
	];
	for (const [what, fill] of forms) {
		const form = new FormData();
		fill(form);
		const { status, body } = await app.call('POST', `${BASES}/${base}/documents`, form);
		assert.deepEqual([status, body.error.code], [400, 'invalid_request'], what);
		assert.ok(body.error.details[0].path.startsWith('/'), what);
	}
	assert.equal((await app.call('GET', `${BASES}/${base}`)).body.document_count, 0);
	assert.deepEqual(await filesOf(app), files);
});

test('indexes a text without its stray control characters', async () => {
	const base = await newBase();
	const added = await addText(base, 'The kettle\u0000 boils\u0007 at\u009b noon.\n');
	assert.equal(added.status, 201, JSON.stringify(added.body));
	assert.equal((await untilProcessed(app, base, added.body.id)).status, 'indexed');
	const { body } = await app.call('GET', `${BASES}/${base}/documents/${added.body.id}/chunks`);
	assert.deepEqual(
		body.data.map(({ text }: { text: string }) => text),
		['The kettle boils at noon.'],
	);
});

test('accepts a blank title in a form as no title, and rejects control characters in it', async () => {
	const base = await newBase();
	const blank = await upload(app, base, 'boiling.txt', { bytes: 'The kettle boils at noon.', title: '  ' });
	assert.deepEqual([blank.status, blank.body.title], [201, 'boiling.txt']);
	for (const title of ['One\u0007', 'One\ntwo']) {
		const { status, body } = await upload(app, base, 'b.txt', { bytes: 'A text.', title });
		assert.deepEqual([status, body.error?.details?.[0]?.path], [400, '/title'], JSON.stringify(title));
	}
});

test('rejects JSON with no source or more than one', async () => {
	const base = await newBase();
	const refused: Array<[body: unknown, path: string]> = [
		[{ title: 'x' }, '/source_type'],
		[{ source_type: 'file' }, '/source_type'],
		[{ source_type: 'text' }, '/content'],
		[{ source_type: 'text', content: '' }, '/content'],
		[{ source_type: 'text', content: 'x', url: 'https://a.example/' }, '/url'],
		[{ source_type: 'url' }, '/url'],
		[{ source_type: 'url', url: 'https://a.example/', content: 'x' }, '/content'],
		[{ source_type: 'text', content: 'x', title: '' }, '/title'],
		[{ source_type: 'text', content: 'x', title: ' \u00a0' }, '/title'],
		[{ source_type: 'text', content: 'x', title: 'a\u0000' }, '/title'],
	];
	for (const [body, path] of refused) {
		const answer = await app.call('POST', `${BASES}/${base}/documents`, body);
		assert.deepEqual([answer.status, answer.body.error.details?.[0].path], [400, path], JSON.stringify(body));
	}
});

test('a broken file ends in status error with a reason, and its removal leads back to ready', async () => {
	const base = await newBase();
	const broken = `%PDF-1.7\n${'1 0 obj << /Type /Catalog /Pages 9 0 R >> endobj\n'.repeat(3)}trailer << /Root 1 0 R >>`;
	const { status, body } = await upload(app, base, 'broken.pdf', { bytes: broken });
	assert.equal(status, 201, 'the file looks like a PDF until it is read');
	const document = await untilProcessed(app, base, body.id);
	assert.deepEqual([document.status, document.chunk_count, document.indexed_at], ['error', 0, null]);
	assert.equal(document.error.code, 'unreadable_file');
	assert.match(document.error.message, /^[A-Z].*\.$/);
	assert.equal(document.title, 'broken.pdf');
	assert.deepEqual((await app.call('GET', `${BASES}/${base}/status`)).body.status, 'error');
	assert.deepEqual(await indexedEvents(app, base), [], 'that was no way to ready');

	await addText(base, 'The kettle is blue.');
	assert.deepEqual(
		{ ...(await untilSettled(app, base)), last_indexed_at: '', trained_at: '' },
		{
			status: 'error',
			documents_total: 2,
			documents_indexed: 1,
			documents_failed: 1,
			searchable: true,
			last_indexed_at: '',
			trained_at: '',
			embedder: 'builtin',
			reindex_required: false,
			reindex: null,
			problem: null,
		},
	);
	const retried = await app.call('POST', `${BASES}/${base}/documents/${body.id}/retry`);
	assert.deepEqual([retried.status, retried.body.error], [200, null]);
	assert.equal((await untilProcessed(app, base, body.id)).status, 'error', 'it is as broken as before');

	const removed = await app.call('DELETE', `${BASES}/${base}/documents/${body.id}`);
	assert.deepEqual([removed.status, removed.body], [200, { id: body.id, deleted: true }]);
	assert.equal((await app.call('GET', `${BASES}/${base}/status`)).body.status, 'ready');
	assert.match((await search(base, 'What colour is the kettle?'))[0].text, /blue/);
});

test('finds a document as before while it is processed again, and sends one event for each indexing', async () => {
	const base = await newBase();
	const { body } = await addText(base, 'The kettle holds two litres.', 'Volume');
	await untilSettled(app, base);
	const before = await search(base, 'How much does the kettle hold?');
	pool.pause();
	const retried = await app.call('POST', `${BASES}/${base}/documents/${body.id}/retry`);
	assert.equal(retried.body.status, 'queued');
	await until('it is being processed', () => pool.waiting > 0);
	assert.equal((await app.call('GET', `${BASES}/${base}/status`)).body.status, 'indexing');
	assert.deepEqual(await search(base, 'How much does the kettle hold?'), before, 'found in the meantime as well');
	const again = await app.call('POST', `${BASES}/${base}/documents/${body.id}/retry`);
	assert.deepEqual([again.status, again.body.status], [200, 'processing'], 'it is under way already');
	pool.resume();
	assert.equal((await untilSettled(app, base)).status, 'ready');
	assert.deepEqual(await search(base, 'How much does the kettle hold?'), before);
	assert.equal((await indexedEvents(app, base)).length, 2);
});

test('removes a document or its knowledge base while the document is processed', async () => {
	const files = await filesOf(app);
	const base = await newBase();
	const doomed = await newBase();
	pool.pause();
	const { body } = await addText(base, 'Never to be found.');
	await addText(doomed, 'Gone with the rest.');
	await until('both are being processed', () => pool.waiting === 2);
	assert.equal((await app.call('DELETE', `${BASES}/${base}/documents/${body.id}`)).status, 200);
	assert.equal((await app.call('DELETE', `${BASES}/${doomed}`)).status, 200);
	assert.deepEqual((await app.call('GET', `${BASES}/${base}/status`)).body, {
		status: 'ready',
		documents_total: 0,
		documents_indexed: 0,
		documents_failed: 0,
		searchable: false,
		last_indexed_at: null,
		trained_at: null,
		embedder: null,
		reindex_required: false,
		reindex: null,
		problem: null,
	});
	pool.resume();
	await until('the workers have let go', () => pool.waiting === 0);
	const { body: next } = await addText(base, 'Found after all.');
	assert.equal((await untilProcessed(app, base, next.id)).status, 'indexed');
	assert.deepEqual(
		(await search(base, 'found')).map(({ text }: { text: string }) => text),
		['Found after all.'],
	);
	assert.equal((await app.call('GET', `${BASES}/${base}/documents/${body.id}`)).status, 404);
	assert.equal((await filesOf(app)).length, files.length + 1);
});

test('an upload into a knowledge base that is deleted meanwhile ends as 404 and leaves nothing on disk', async () => {
	const base = await newBase();
	const files = await filesOf(app);
	const boundary = 'x-boundary';
	let finish: () => void = () => {};
	const body = new ReadableStream<Uint8Array>({
		start(controller) {
			const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nA text`;
			controller.enqueue(Buffer.from(head));
			finish = () => {
				controller.enqueue(Buffer.from(` to its end.\r\n--${boundary}--\r\n`));
				controller.close();
			};
		},
	});
	const answer = fetch(`${app.url}${BASES}/${base}/documents`, {
		method: 'POST',
		headers: { authorization: `Bearer ${app.key}`, 'content-type': `Multipart/Form-Data; boundary=${boundary}` },
		body,
		duplex: 'half',
	} as RequestInit);
	await until('the upload has begun', async () => (await filesOf(app)).length > files.length);
	assert.equal((await app.call('DELETE', `${BASES}/${base}`)).status, 200);
	finish();
	const response = await answer;
	const { error } = (await response.json()) as { error: { code: string } };
	assert.deepEqual([response.status, error.code], [404, 'not_found']);
	assert.deepEqual(await filesOf(app), files);
});

test('an upload that breaks off leaves nothing on disk', async () => {
	const base = await newBase();
	const files = await filesOf(app);
	const leave = new AbortController();
	const body = new ReadableStream<Uint8Array>({
		start(controller) {
			const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nA text';
			controller.enqueue(Buffer.from(head));
		},
	});
	const answer = fetch(`${app.url}${BASES}/${base}/documents`, {
		method: 'POST',
		headers: { authorization: `Bearer ${app.key}`, 'content-type': 'multipart/form-data; boundary=b' },
		body,
		duplex: 'half',
		signal: leave.signal,
	} as RequestInit);
	await until('the upload has begun', async () => (await filesOf(app)).length > files.length);
	leave.abort();
	await assert.rejects(answer, { name: 'AbortError' });
	await until('nothing is left of it', async () => (await filesOf(app)).length === files.length);
	assert.equal((await app.call('GET', `${BASES}/${base}`)).body.document_count, 0);
});

test('twelve documents at once, then twelve in a row of removals: the counts agree at the end', async () => {
	const base = await newBase();
	const added = await Promise.all(
		Array.from({ length: 12 }, (_, at) => addText(base, `Kettle number ${at} costs ${at + 20} euros.`)),
	);
	assert.deepEqual([...new Set(added.map(({ status }) => status))], [201]);
	const { status, documents_total, documents_indexed } = await untilSettled(app, base);
	assert.deepEqual([status, documents_total, documents_indexed], ['ready', 12, 12]);
	const removed = await Promise.all(
		added.map(({ body }) => app.call('DELETE', `${BASES}/${base}/documents/${body.id}`)),
	);
	assert.deepEqual([...new Set(removed.map(({ status: code }) => code))], [200]);
	const { body } = await app.call('GET', `${BASES}/${base}/status`);
	assert.deepEqual([body.status, body.documents_total, body.documents_indexed], ['ready', 0, 0]);
	assert.equal((await app.call('GET', `${BASES}/${base}`)).body.document_count, 0);
	assert.deepEqual(await search(base, 'kettle'), []);
});

test('the next start finishes the documents that the server was processing when it stopped', async () => {
	const shared = new PausablePool();
	await using first = await startTestApp({ overrides: { pool: shared } });
	const base = await createResource(first, BASES, { name: 'Shop' });
	shared.pause();
	const waiting = await upload(first, base, 'privacy.txt');
	const queued: string[] = [];
	for (let at = 0; at < 4; at++) {
		const { body } = await upload(first, base, `note-${at}.txt`, { bytes: `Note ${at} is about kettles.` });
		queued.push(body.id);
	}
	await until('documents are being processed', () => shared.waiting > 0);
	await using second = await first.restart();
	assert.equal((await second.call('GET', `${BASES}/${base}/status`)).body.status, 'indexing');
	shared.resume();
	const { status, documents_indexed } = await untilSettled(second, base);
	assert.deepEqual([status, documents_indexed], ['ready', 5]);
	for (const id of [waiting.body.id, ...queued]) {
		const { body } = await second.call('GET', `${BASES}/${base}/documents/${id}/chunks`);
		assert.equal(body.data.length > 0, true);
		assert.equal(new Set(body.data.map(({ position }: { position: number }) => position)).size, body.data.length);
	}
	assert.equal((await indexedEvents(second, base)).length, 1);
});
