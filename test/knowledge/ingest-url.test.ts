import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createResource, untilProcessed, untilSettled } from '../api/fixture.ts';
import { startTestApp } from '../support/app.ts';
import { until } from '../support/until.ts';

const BASES = '/api/v1/knowledge-bases';
const SAMPLES = new URL('../../data/samples/', import.meta.url);

const manual = await readFile(new URL('brook-kettle-manual.pdf', SAMPLES));
const visit = await readFile(new URL('visit-and-contact.html', SAMPLES));

/** The pages of the website of these tests, by path; tests may add pages. */
const pages: Record<string, RequestListener> = {
	'/visit': (_request, response) => {
		response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-encoding': 'gzip' });
		response.end(gzipSync(visit));
	},
	'/manual.pdf': (_request, response) => response.end(manual),
	'/old': (_request, response) => response.writeHead(301, { location: '/older' }).end(),
	'/older': (_request, response) => response.writeHead(302, { location: '/visit#today' }).end(),
	'/loop': (_request, response) => response.writeHead(302, { location: '/loop' }).end(),
	'/to-file': (_request, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
	'/logo.png': (_request, response) => {
		response.writeHead(200, { 'content-type': 'image/png' });
		response.end(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'));
	},
	'/large.txt': (_request, response) => {
		response.writeHead(200, { 'content-type': 'text/plain' });
		response.end(Buffer.alloc(10_000_001, 'kettle '));
	},
	'/bomb.txt': (_request, response) => {
		response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' });
		response.end(gzipSync(Buffer.alloc(20_000_001, 'a')));
	},
	'/empty.txt': (_request, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end(),
	'/cut.txt': (_request, response) => {
		response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' });
		response.write('Only a part', () => response.destroy());
	},
};
const site = createServer((request, response) => {
	const page = pages[new URL(request.url ?? '/', 'http://site').pathname];
	if (page) page(request, response);
	else response.writeHead(404).end('Nothing here.');
});
site.listen(0, '127.0.0.1');
await once(site, 'listening');
const home = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;

const app = await startTestApp({ settings: { allow_private_network: true } });
after(async () => {
	await app[Symbol.asyncDispose]();
	site.closeAllConnections();
	site.close();
});

async function importUrl(knowledgeBase: string, url: string, title?: string) {
	return app.call('POST', `${BASES}/${knowledgeBase}/documents`, { source_type: 'url', url, title });
}

async function files(): Promise<string[]> {
	const entries = await readdir(join(app.dataDir, 'blobs'), { recursive: true, withFileTypes: true });
	return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

test('imports a page from its URL with its own title, and finds it with the URL', async () => {
	const base = await createResource(app, BASES, { name: 'Site' });
	const { status, body } = await importUrl(base, `${home}/visit`);
	assert.equal(status, 201);
	assert.deepEqual(
		[body.source_type, body.url, body.status, body.size_bytes],
		['url', `${home}/visit`, 'queued', null],
	);
	const document = await untilProcessed(app, base, body.id);
	assert.deepEqual(
		[document.status, document.error, document.title, document.content_type, document.size_bytes],
		['indexed', null, 'Visit and contact', 'text/html; charset=utf-8', visit.length],
	);
	const { body: found } = await app.call('POST', `${BASES}/${base}/search`, { query: 'Is the shop open on Saturday?' });
	assert.match(found.data[0].text, /Saturday/);
	assert.equal(found.data[0].url, `${home}/visit`);
});

test('follows redirects and keeps a given title', async () => {
	const base = await createResource(app, BASES, { name: 'Site' });
	const moved = await importUrl(base, `${home}/old`, 'Opening hours');
	const file = await importUrl(base, `${home}/manual.pdf?download=1`);
	const page = await untilProcessed(app, base, moved.body.id);
	assert.deepEqual([page.status, page.title, page.url], ['indexed', 'Opening hours', `${home}/old`]);
	const pdf = await untilProcessed(app, base, file.body.id);
	assert.deepEqual([pdf.status, pdf.page_count, pdf.file_name], ['indexed', 3, 'manual.pdf']);
	assert.equal(pdf.title, 'Brook HB-170 kettle: user manual');
});

test('a URL that gives no document ends in status error with a reason and leaves no file', async () => {
	const base = await createResource(app, BASES, { name: 'Site' });
	const before = await files();
	const failures: Array<[path: string, code: string, sentence: RegExp]> = [
		['/missing', 'unreadable_file', /status 404/],
		['/loop', 'unreadable_file', /redirects more than 3 times/],
		['/to-file', 'url_not_allowed', /\.$/],
		[
			'/logo.png',
			'unsupported_file_type',
			/does not lead to a PDF, DOCX, XLSX, PPTX, ODT, ODS, ODP, RTF, EPUB, EML, HTML, CSV, MD or TXT/,
		],
		['/large.txt', 'unreadable_file', /larger than 10 MB/],
		['/bomb.txt', 'unreadable_file', /larger than 20 MB/],
		['/empty.txt', 'no_text', /empty/],
		['/cut.txt', 'unreadable_file', /broke off/],
	];
	for (const [path, code, sentence] of failures) {
		const { body } = await importUrl(base, home + path);
		const { status, error, chunk_count } = await untilProcessed(app, base, body.id);
		assert.deepEqual([status, error?.code, chunk_count], ['error', code, 0], path);
		assert.match(error.message, sentence, path);
		assert.match(error.message, /^[A-Z].*\.$/, path);
	}
	const { status, documents_total, documents_indexed } = await untilSettled(app, base);
	assert.deepEqual([status, documents_total, documents_indexed], ['error', failures.length, 0]);
	assert.deepEqual(await files(), before);
});

test('processing a URL again fetches it again and replaces its old content', async () => {
	const base = await createResource(app, BASES, { name: 'Site' });
	let text = 'The price is ten euros.';
	pages['/price.txt'] = (_request, response) => response.end(text);
	const { body } = await importUrl(base, `${home}/price.txt`, 'Price');
	await untilProcessed(app, base, body.id);
	const before = await files();
	text = 'The price is twelve euros.';
	await app.call('POST', `${BASES}/${base}/documents/${body.id}/retry`);
	await untilSettled(app, base);
	const { body: found } = await app.call('POST', `${BASES}/${base}/search`, { query: 'What is the price?' });
	assert.deepEqual(
		found.data.map((hit: { text: string }) => hit.text),
		['The price is twelve euros.'],
	);
	assert.equal((await files()).length, before.length, 'the old bytes are gone');

	pages['/price.txt'] = (_request, response) => response.writeHead(503).end();
	await app.call('POST', `${BASES}/${base}/documents/${body.id}/retry`);
	assert.equal((await untilSettled(app, base)).status, 'error');
	pages['/price.txt'] = (_request, response) => response.end(text);
	await app.call('POST', `${BASES}/${base}/documents/${body.id}/retry`);
	assert.equal((await untilSettled(app, base)).status, 'ready', 'a failure that was mended leads back to ready');
	assert.equal((await files()).length, before.length);
});

test('a document or knowledge base that is deleted while its URL is fetched leaves no file', async () => {
	const before = await files();
	const held: Array<() => void> = [];
	pages['/slow.txt'] = (_request, response) => {
		response.writeHead(200, { 'content-type': 'text/plain' });
		response.write('The first half');
		held.push(() => response.end(' and the second.'));
	};
	const base = await createResource(app, BASES, { name: 'Site' });
	const doomed = await createResource(app, BASES, { name: 'Doomed' });
	const { body } = await importUrl(base, `${home}/slow.txt`);
	await importUrl(doomed, `${home}/slow.txt`);
	await until('both are being fetched', () => held.length === 2);
	await app.call('DELETE', `${BASES}/${base}/documents/${body.id}`);
	await app.call('DELETE', `${BASES}/${doomed}`);
	for (const finish of held) finish();
	await until('nothing is left of them', async () => (await files()).length === before.length);
	assert.equal((await app.call('GET', `${BASES}/${base}/status`)).body.status, 'ready');
});

test('rejects addresses of the private network, at once or after the DNS lookup', async () => {
	await using guarded = await startTestApp();
	const base = await createResource(guarded, BASES, { name: 'Site' });
	const add = (url: string) => guarded.call('POST', `${BASES}/${base}/documents`, { source_type: 'url', url });
	for (const url of [
		`${home}/visit`,
		'http://[::1]/',
		'http://[::ffff:10.0.0.1]/',
		'http://0x7f.1/',
		'http://169.254.169.254/latest/meta-data/',
		'file:///etc/passwd',
		'ftp://example.com/a.txt',
		'javascript:alert(1)',
		'not a url',
		'//example.com/a.txt',
	]) {
		const { status, body } = await add(url);
		assert.deepEqual([status, body.error.code], [400, 'url_not_allowed'], url);
	}
	const named = await add(`http://localhost:${new URL(home).port}/visit`);
	if (named.status === 201) {
		const { status, error } = await untilProcessed(guarded, base, named.body.id);
		assert.deepEqual([status, error.code], ['error', 'url_not_allowed']);
	} else {
		assert.deepEqual([named.status, named.body.error.code], [400, 'url_not_allowed']);
	}
	assert.match(JSON.stringify((await guarded.call('GET', `${BASES}/${base}/documents`)).body), /"data":/);
});
