import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import Database from 'better-sqlite3';
import { databaseFile } from '../../../src/store/index.ts';
import { createResource } from '../../api/fixture.ts';
import { startTestApp } from '../../support/app.ts';
import { ModelServer } from '../../support/model-server.ts';
import { until } from '../../support/until.ts';
import { manyChunks } from '../knowledge-harness.ts';
import { followSource, htmlPage, startWebsite } from './website.ts';

const app = await startTestApp({ settings: { allow_private_network: true }, overrides: { crawlDelayMs: 0 } });
const site = await startWebsite();
after(async () => {
	await app[Symbol.asyncDispose]();
	await site[Symbol.asyncDispose]();
});

const hours = (sentence: string) => htmlPage('Opening hours', sentence);

test('a page becomes a document, and a changed page replaces its content', async () => {
	site.pages.set('/hours', hours('The shop is open from ten to four.'));
	const source = await followSource(app, { type: 'url', url: `${site.url}/hours` });
	const first = await source.untilDone();
	assert.deepEqual([first.status, first.error, first.refresh_hours], ['idle', null, 24]);
	assert.deepEqual(first.progress, { found: 1, fetched: 1, indexed: 1, unchanged: 0, failed: 0, gone: 0 });
	assert.equal(Date.parse(first.next_run_at) - Date.parse(first.finished_at), 24 * 3_600_000);
	const { document_id } = await source.page(`${site.url}/hours`);
	const { body: document } = await app.call('GET', `/api/v1/knowledge-bases/${source.base}/documents/${document_id}`);
	assert.deepEqual(
		[document.title, document.source_type, document.url, document.source_id, document.status],
		['Opening hours', 'url', `${site.url}/hours`, source.id, 'indexed'],
	);

	site.pages.set('/hours', hours('The shop is open from nine to five.'));
	await source.refresh();
	const [found, ...others] = await source.search('When is the shop open?');
	assert.match(found ?? '', /nine to five/);
	assert.deepEqual(others, [], 'the former content is gone');
	assert.equal((await source.page(`${site.url}/hours`)).document_id, document_id, 'it is the same document');
});

test('an unchanged page is neither sent again nor processed again', async () => {
	site.pages.set('/hours', hours('The shop is open from ten to four.'));
	const source = await followSource(app, { type: 'url', url: `${site.url}/hours` });
	await source.untilDone();
	const { document_id } = await source.page(`${site.url}/hours`);
	const documentPath = `/api/v1/knowledge-bases/${source.base}/documents/${document_id}`;
	const { headers } = await app.call('GET', documentPath);
	site.takeRequests();
	const again = await source.refresh();
	assert.deepEqual(site.takeRequests(), ['/hours 304']);
	assert.deepEqual(again.progress, { found: 1, fetched: 1, indexed: 1, unchanged: 1, failed: 0, gone: 0 });
	// A server without validators sends the bytes again, with a new token each time.
	let token = 0;
	site.pages.set('/hours', (_request, response) => {
		response.setHeader('content-type', 'text/html; charset=utf-8');
		response.end(
			hours('The shop is open from ten to four.').replace('<main>', `<input type="hidden" value="${++token}"><main>`),
		);
	});
	for (let run = 0; run < 2; run++) assert.equal((await source.refresh()).progress.unchanged, 1);
	assert.equal(token, 2);
	const unchanged = (await app.call('GET', documentPath)).headers.get('etag');
	assert.equal(unchanged, headers.get('etag'), 'the document was not touched');
});

test('a server that knows only the time of a change is asked by it', async () => {
	const changed = 'Wed, 18 Nov 2026 10:00:00 GMT';
	site.pages.set('/dated', (request, response) => {
		const isSame = request.headers['if-modified-since'] === changed;
		response.writeHead(isSame ? 304 : 200, { 'content-type': 'text/html', 'last-modified': changed });
		response.end(isSame ? undefined : hours('The shop is open on Sundays.'));
	});
	const source = await followSource(app, { type: 'url', url: `${site.url}/dated` });
	await source.untilDone();
	site.takeRequests();
	assert.equal((await source.refresh()).progress.unchanged, 1);
	assert.deepEqual(site.takeRequests(), ['/dated 304']);
});

test('a page that is missing twice in a row is removed, and a page that comes back is not', async () => {
	site.pages.set('/notice', htmlPage('Notice', 'The marmalade is recalled.'));
	const source = await followSource(app, { type: 'url', url: `${site.url}/notice`, refresh_hours: null });
	await source.untilDone();
	site.pages.delete('/notice');
	const once = await source.refresh();
	assert.deepEqual([once.status, once.error.code, once.next_run_at], ['error', 'not_found', null]);
	const page = await source.page(`${site.url}/notice`);
	assert.deepEqual([page.status, page.http_status], ['gone', 404]);
	assert.match(
		page.error.message,
		/answered with status 404\. Its document is removed if the next run does not find it/,
	);
	assert.equal((await source.search('What is recalled?')).length, 1, 'after one miss it is still found');
	site.pages.set('/notice', htmlPage('Notice', 'The marmalade is recalled.'));
	assert.equal((await source.refresh()).status, 'idle');
	site.pages.delete('/notice');
	await source.refresh();
	assert.equal((await source.search('What is recalled?')).length, 1, 'the misses were not in a row');
	await source.refresh();
	assert.deepEqual(await source.search('What is recalled?'), []);
	assert.equal((await source.page(`${site.url}/notice`)).document_id, null);
	site.pages.set('/notice', htmlPage('Notice', 'The jam is recalled.'));
	await source.refresh();
	assert.match((await source.search('What is recalled?'))[0] ?? '', /jam/);
});

test('a server that fails is not a page that is gone', async () => {
	site.pages.set('/fees', htmlPage('Fees', 'The fee is twelve euros.'));
	const source = await followSource(app, { type: 'url', url: `${site.url}/fees` });
	await source.untilDone();
	const failures: Array<[answer: Parameters<typeof site.pages.set>[1], sentence: RegExp]> = [
		[(_request, response) => response.writeHead(503).end(), /status 503/],
		[(request) => request.socket.destroy(), /broke off/],
		[(_request, response) => response.writeHead(403).end(), /status 403/],
		[
			(_request, response) =>
				response
					.writeHead(200, { 'content-type': 'image/png' })
					.end(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')),
			/does not lead to a PDF/,
		],
		[(_request, response) => response.writeHead(302, { location: '/fees' }).end(), /redirects to itself/],
	];
	for (const [answer, sentence] of failures) {
		site.pages.set('/fees', answer);
		const { status, error } = await source.refresh();
		assert.equal(status, 'error', String(sentence));
		assert.match(error.message, sentence);
		assert.match((await source.page(`${site.url}/fees`)).error.message, sentence);
		assert.match((await source.search('How high is the fee?'))[0] ?? '', /twelve euros/, 'its content stays');
	}
});

test('a redirect counts as its target, and the content answers all the time', async () => {
	site.pages.set('/old', htmlPage('Delivery', 'We deliver within three days.'));
	const source = await followSource(app, { type: 'url', url: `${site.url}/old` });
	await source.untilDone();
	const { document_id } = await source.page(`${site.url}/old`);
	site.pages.set('/old', (_request, response) => response.writeHead(301, { location: '/new#today' }).end());
	site.pages.set('/new', htmlPage('Delivery', 'We deliver within two days.'));
	let isDone = false;
	const watching = (async () => {
		while (!isDone) assert.equal((await source.search('When do you deliver?')).length, 1);
	})();
	await source.refresh();
	isDone = true;
	await watching;
	assert.deepEqual(await source.pages(), ['/new fetched', '/old redirected']);
	const page = await source.page(`${site.url}/new`);
	assert.equal(page.document_id, document_id, 'the document has moved with the page');
	const { body } = await app.call('POST', `/api/v1/knowledge-bases/${source.base}/search`, {
		query: 'When do you deliver?',
	});
	assert.deepEqual([body.data[0].url, /two days/.test(body.data[0].text)], [`${site.url}/new`, true]);
});

test('rejects what does not fit the type, and addresses of the private network', async () => {
	const base = await createResource(app, '/api/v1/knowledge-bases', { name: 'Site' });
	const sources = `/api/v1/knowledge-bases/${base}/sources`;
	const invalid = await app.call('POST', sources, { type: 'url', url: `${site.url}/`, include: ['/a'] });
	assert.deepEqual([invalid.status, invalid.body.error.details[0].path], [400, '/include']);
	const source = await followSource(app, { type: 'sitemap', url: `${site.url}/s.xml`, max_pages: 7 }, base);
	assert.equal((await app.call('PATCH', source.path, { depth: 3 })).status, 400);
	for (const max_pages of [0, 5_001]) {
		assert.equal((await app.call('POST', sources, { type: 'website', url: site.url, max_pages })).status, 400);
	}
	const long = await app.call('POST', sources, { type: 'website', url: `${site.url}/${'é'.repeat(700)}` });
	assert.deepEqual([long.status, long.body.error.details[0].path], [400, '/url']);
	await using guarded = await startTestApp();
	const other = await createResource(guarded, '/api/v1/knowledge-bases', { name: 'Site' });
	for (const url of [site.url, 'http://169.254.169.254/latest/', 'https://ann:pw@shop.example/']) {
		const { status, body } = await guarded.call('POST', `/api/v1/knowledge-bases/${other}/sources`, {
			type: 'website',
			url,
		});
		assert.deepEqual([status, body.error.code], [400, 'url_not_allowed'], url);
	}
});

test('the run of a source whose address is too long ends with an error', async () => {
	site.pages.set('/hours', hours('The shop is open from ten to four.'));
	const source = await followSource(app, { type: 'url', url: `${site.url}/hours` });
	await source.untilDone();
	const db = new Database(databaseFile(app.dataDir));
	db.prepare('UPDATE sources SET url = url || ? WHERE id = ?').run('/'.repeat(2_000), source.id);
	db.close();
	const { status, error } = await source.refresh();
	assert.deepEqual([status, error.code], ['error', 'url_not_allowed']);
});

test('a page at a private address behind a redirect is not requested', async () => {
	const inner = await startWebsite({ '/secret': htmlPage('Secret', 'The password is swordfish.') });
	after(() => inner[Symbol.asyncDispose]());
	// An address that the operator refuses stands for the private network.
	await using guarded = await startTestApp({
		settings: { allow_private_network: true, refused_networks: ['127.0.0.2/32'] },
		overrides: { crawlDelayMs: 0 },
	});
	site.pages.set('/out', (_request, response) =>
		response.writeHead(302, { location: inner.url.replace('127.0.0.1', '127.0.0.2') }).end(),
	);
	const source = await followSource(guarded, { type: 'url', url: `${site.url}/out` });
	const { status, error } = await source.untilDone();
	assert.deepEqual([status, error.code], ['error', 'url_not_allowed']);
	assert.deepEqual(inner.takeRequests(), []);
});

test('pausing stops the requests, and resuming continues', async () => {
	site.pages.set('/hours', hours('The shop is open from ten to four.'));
	const source = await followSource(app, { type: 'url', url: `${site.url}/hours` });
	await source.untilDone();
	assert.equal((await app.call('POST', `${source.path}/pause`)).body.status, 'paused');
	assert.equal((await source.search('When is the shop open?')).length, 1, 'its documents stay');
	assert.equal((await app.call('POST', `${source.path}/resume`)).body.status, 'idle');
	site.takeRequests();
	await app.call('POST', `${source.path}/pause`);
	await source.refresh();
	assert.deepEqual(site.takeRequests(), ['/hours 304'], 'a refresh resumes a paused source');
});

test('a changed interval moves the next run', async () => {
	site.pages.set('/hours', hours('The shop is open from ten to four.'));
	const source = await followSource(app, { type: 'url', url: `${site.url}/hours`, refresh_hours: null });
	const { next_run_at, finished_at } = await source.untilDone();
	assert.equal(next_run_at, null);
	const { body } = await app.call('PATCH', source.path, { refresh_hours: 720 });
	assert.equal(Date.parse(body.next_run_at) - Date.parse(finished_at), 720 * 3_600_000);
	await until('the job has looked at it', async () => (await source.get()).status === 'idle');
	assert.equal((await app.call('PATCH', source.path, { refresh_hours: null })).body.next_run_at, null);
});

test('a provider embeds only the chunks of a page that have changed', async () => {
	await using models = await ModelServer.start();
	const settings = { allow_private_network: true, providers: [models.provider()], embedder: 'stand-in/first' };
	await using own = await startTestApp({ settings, overrides: { crawlDelayMs: 0 } });
	const sections = manyChunks(4, 'tea');
	site.pages.set('/teas.md', (_request, response) => response.end(sections));
	const source = await followSource(own, { type: 'url', url: `${site.url}/teas.md` });
	await source.untilDone();
	const embedded = () => models.embeddings.texts.filter((text) => text.includes('Shelf'));
	assert.equal(embedded().length, 4);
	site.pages.set('/teas.md', (_request, response) => response.end(sections.replaceAll('Shelf 2', 'Shelf 20')));
	await source.refresh();
	const again = embedded().slice(4);
	assert.deepEqual([again.length, again[0]?.includes('Shelf 20 of tea')], [1, true]);
	assert.equal((await source.search('Shelf 20')).length > 0, true);
});
