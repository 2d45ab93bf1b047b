import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { AppError, type Deferred, deferred, ResourceShortage } from '../../src/base/index.ts';
import type { ParsedDocument } from '../../src/contract/index.ts';
import { parseWithRecognition } from '../../src/knowledge/ingest/parse-with-recognition.ts';
import type { WorkerPool } from '../../src/pool/index.ts';
import { createResource, untilSettled, upload } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';
import { openSharedWorkerPool } from '../support/shared-worker-pool.ts';
import { until } from '../support/until.ts';

/** The real pool, whose texts count as PDFs with scans if they say so. Recognition waits for the test. */
class ScannerPool {
	readonly pool: WorkerPool;
	hold: Deferred<void> = deferred();
	failure: Error | undefined;
	recognised = 0;

	constructor() {
		const real = openSharedWorkerPool();
		const parse: WorkerPool['parse'] = async (...args) => {
			const parsed = await real.parse(...args);
			const has_scans = parsed.chunks.some(({ text }) => text.includes('scan'));
			const isEmpty = parsed.chunks.some(({ text }) => text.includes('nothing else'));
			return { ...parsed, has_scans, chunks: isEmpty ? [] : parsed.chunks };
		};
		const recognise: WorkerPool['recognise'] = async (job, signal): Promise<ParsedDocument> => {
			this.recognised++;
			await Promise.race([
				this.hold.promise,
				new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
			]);
			if (this.failure) throw this.failure;
			const parsed = await real.parse(job, signal);
			return {
				...parsed,
				chunks: parsed.chunks.map((chunk) => ({ ...chunk, text: `${chunk.text} Recognised text.` })),
			};
		};
		this.pool = { ...real, parse, recognise };
	}
}

test('documents with scans wait for each other, and other documents do not wait for them', async () => {
	const scanner = new ScannerPool();
	await using app = await startTestApp({ overrides: { pool: scanner.pool } });
	const base = await createResource(app, '/api/v1/knowledge-bases', { name: 'Scans' });
	const scans: string[] = [];
	for (let index = 0; index < 5; index++) {
		scans.push((await upload(app, base, `${index}.txt`, { bytes: `A scan about kettle ${index}.` })).body.id);
	}
	await until('one scan is being recognised', () => scanner.recognised > 0);
	const { body } = await upload(app, base, 'plain.txt', { bytes: 'Plain words about tea.' });
	const path = (id: string) => `/api/v1/knowledge-bases/${base}/documents/${id}`;
	await until(
		'the other document is indexed',
		async () => (await app.call('GET', path(body.id))).body.status === 'indexed',
	);
	assert.equal(scanner.recognised, 1);
	await until('all of them say what they wait for', async () => {
		const documents = await Promise.all(scans.map(async (id) => (await app.call('GET', path(id))).body));
		const states = documents.map(
			({ status, error }) => `${status} ${/wait for text recognition/.test(error?.message)}`,
		);
		return states.sort().join() === ['processing true', ...Array(4).fill('queued true')].join();
	});
	scanner.hold.resolve();
	await untilSettled(app, base);
	for (const id of scans) assert.equal((await app.call('GET', path(id))).body.status, 'indexed');
	const search = await app.call('POST', `/api/v1/knowledge-bases/${base}/search`, { query: 'kettle' });
	assert.match(search.body.data[0].text, /Recognised text/);
});

test('if recognition fails, a document keeps the text that it has itself, and one without ends with the reason', async () => {
	const scanner = new ScannerPool();
	scanner.failure = new AppError('resource_limit', 'The PDF has too many scanned pages.');
	scanner.hold.resolve();
	await using app = await startTestApp({ overrides: { pool: scanner.pool } });
	const base = await createResource(app, '/api/v1/knowledge-bases', { name: 'Scans' });
	const mixed = (await upload(app, base, 'mixed.txt', { bytes: 'Some words beside a scan.' })).body.id;
	const empty = (await upload(app, base, 'empty.txt', { bytes: 'A scan and nothing else.' })).body.id;
	await untilSettled(app, base);
	const documentOf = async (id: string) =>
		(await app.call('GET', `/api/v1/knowledge-bases/${base}/documents/${id}`)).body;
	const indexed = await documentOf(mixed);
	assert.equal(indexed.status, 'indexed');
	assert.match(indexed.error.message, /scanned pages is missing\. The PDF has too many scanned pages/);
	const { status, error } = await documentOf(empty);
	assert.deepEqual([status, error.code], ['error', 'resource_limit']);
});

test('a reindex says again which text of a document is missing, and a copy of such a document is read again', async () => {
	const scanner = new ScannerPool();
	const failure = new AppError('resource_limit', 'The PDF has too many scanned pages.');
	scanner.failure = failure;
	scanner.hold.resolve();
	await using app = await startTestApp({ overrides: { pool: scanner.pool } });
	const base = await createResource(app, '/api/v1/knowledge-bases', { name: 'Scans' });
	const text = { bytes: 'Some words beside a scan.' };
	const errorOf = async (id: string) =>
		(await app.call('GET', `/api/v1/knowledge-bases/${base}/documents/${id}`)).body.error?.code;
	const reindex = async () => {
		const { status } = await app.call('POST', `/api/v1/knowledge-bases/${base}/reindex`);
		assert.equal(status, 200);
		await untilSettled(app, base);
	};

	const first = (await upload(app, base, 'mixed.txt', text)).body.id;
	await untilSettled(app, base);
	assert.equal(await errorOf(first), 'unreadable_file');
	scanner.failure = undefined;
	const second = (await upload(app, base, 'same.txt', text)).body.id;
	await untilSettled(app, base);
	assert.equal(await errorOf(second), undefined);
	await reindex();
	assert.equal(await errorOf(first), undefined);
	scanner.failure = failure;
	await reindex();
	assert.deepEqual([await errorOf(first), await errorOf(second)], ['unreadable_file', 'unreadable_file']);
});

test('if recognition cannot be started, a document keeps its own text after its last attempt', async () => {
	const scanner = new ScannerPool();
	scanner.failure = new AppError('unavailable', 'Text recognition (OCR) could not be started.');
	const job = { path: '', file_name: 'a.txt', content_type: null, title: null, url: null };
	const chunk = { text: 'Some words.', heading_path: [], page: 1, title_terms: '', body_terms: '' };
	const own: ParsedDocument = {
		title: null,
		format: 'pdf',
		language: null,
		page_count: 1,
		has_scans: true,
		chunks: [chunk],
	};
	scanner.hold.resolve();
	const pool = { parse: async () => own, recognise: scanner.pool.recognise };
	const { signal } = new AbortController();
	const lines: Array<Record<string, unknown>> = [];
	const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
	const parse = (failures: number) =>
		parseWithRecognition({ pool, log }, { documentId: 'doc_1', job, failures }, signal);
	for (const failures of [0, 1]) await assert.rejects(parse(failures), { code: 'unavailable' });
	const { missing_text, ...parsed } = await parse(2);
	assert.deepEqual(parsed, own);
	assert.match(missing_text ?? '', /could not be started/);
	assert.deepEqual(
		lines.map(({ document }) => document),
		['doc_1'],
	);
	scanner.failure = new ResourceShortage('The disk of the server is full.', undefined);
	await assert.rejects(parse(2), { code: 'unavailable' });
});
