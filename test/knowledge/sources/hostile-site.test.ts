import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startTestApp } from '../../support/app.ts';
import { until } from '../../support/until.ts';
import { followSource, htmlPage, startWebsite, type Website } from './website.ts';

const app = await startTestApp({ settings: { allow_private_network: true }, overrides: { crawlDelayMs: 0 } });
after(() => app[Symbol.asyncDispose]());

async function siteWith(pages: Parameters<typeof startWebsite>[0]): Promise<Website> {
	const site = await startWebsite(pages);
	after(() => site[Symbol.asyncDispose]());
	return site;
}

/** A site whose every page is made by a function of its path. */
async function endlessSite(pageOf: (path: string) => string): Promise<Website> {
	const site = await siteWith({});
	const get = site.pages.get.bind(site.pages);
	site.pages.get = (path) => get(path) ?? (path === '/robots.txt' ? undefined : pageOf(path));
	return site;
}

test('a calendar without an end takes no more pages than allowed, and ends', async () => {
	const site = await endlessSite((path) => {
		const month = Number(new URL(path, 'http://site').searchParams.get('month') ?? 0);
		return htmlPage(`Month ${month}`, `Nothing happens in month ${month}.`, [
			`/?month=${month + 1}`,
			`/?month=${month - 1}`,
			'/about',
		]);
	});
	const source = await followSource(app, { type: 'website', url: site.url, max_pages: 12, depth: 20 });
	const { status, progress } = await source.untilDone();
	assert.deepEqual([status, progress.found], ['idle', 12]);
	assert.equal(site.takeRequests().length, 12);
	assert.equal((await source.pages()).length, 12);
});

test('links that repeat their own path, or change a session, are not followed without end', async () => {
	let session = 0;
	const site = await endlessSite((path) =>
		htmlPage('Here', `Path ${path}`, ['more/more/', `/?sessionid=${++session}`, `/a;jsessionid=${++session}`]),
	);
	const source = await followSource(app, { type: 'website', url: `${site.url}/`, max_pages: 100, depth: 20 });
	const { progress } = await source.untilDone();
	assert.ok(progress.found <= 5, `${progress.found}`);
});

test('thousands of links of a page are bounded', async () => {
	const links = Array.from({ length: 2_050 }, (_, at) => `/${at}`);
	const site = await siteWith({ '/': htmlPage('Home', 'All our goods.', links) });
	const source = await followSource(app, {
		type: 'website',
		url: site.url,
		max_pages: 5_000,
		exclude: ['/1*', '/2*', '/3*', '/4*', '/5*', '/6*', '/7*', '/8*', '/9*'],
	});
	const { status, progress } = await source.untilDone();
	assert.deepEqual([status, progress.found], ['idle', 2], 'the start and /0, which is missing');
});

test('redirects in a circle, and without an end, end', async () => {
	let step = 0;
	const site = await siteWith({ '/': htmlPage('Home', 'Welcome.', ['/one', '/endless', '/self']) });
	const to = (location: () => string) => (_request: unknown, response: import('node:http').ServerResponse) =>
		void response.writeHead(302, { location: location() }).end();
	site.pages.set(
		'/one',
		to(() => '/two'),
	);
	site.pages.set(
		'/two',
		to(() => '/one'),
	);
	site.pages.set(
		'/self',
		to(() => '/self#again'),
	);
	const get = site.pages.get.bind(site.pages);
	site.pages.get = (path) => get(path) ?? (path.startsWith('/endless') ? to(() => `/endless/${++step}`) : undefined);
	const source = await followSource(app, { type: 'website', url: `${site.url}/`, depth: 2 });
	const { status, progress } = await source.untilDone();
	assert.deepEqual([status, progress.indexed], ['idle', 1]);
	assert.ok(step < 20, `${step} steps`);
	assert.match((await source.page(`${site.url}/self`)).error.message, /redirects to itself/);
	assert.match((await source.page(`${site.url}/two`)).error.message, /redirects back/);
	const start = await siteWith({});
	start.pages.get = (path) => (path === '/robots.txt' ? undefined : to(() => `/${++step}`));
	const endless = await followSource(app, { type: 'url', url: `${start.url}/` });
	const { error } = await endless.untilDone();
	assert.match(error.message, /too many redirects/);
});

test('bodies that are too large, expand, break off or are no documents fail with a reason', async () => {
	const html = { 'content-type': 'text/html' };
	// Compressed before: a page has 15 seconds, and on a busy machine this takes seconds.
	const bomb = gzipSync(Buffer.alloc(20_000_001, 'a '));
	const site = await siteWith({
		'/': htmlPage('Home', 'Welcome.', ['/large', '/bomb', '/cut', '/image', '/fake.pdf', '/empty', '/binary']),
		'/large': (_request, response) => response.writeHead(200, html).end(Buffer.alloc(10_000_001, 'kettle ')),
		'/bomb': (_request, response) => response.writeHead(200, { ...html, 'content-encoding': 'gzip' }).end(bomb),
		'/cut': (_request, response) => {
			response.writeHead(200, { ...html, 'content-length': '100' });
			response.write('<p>Only a part', () => response.destroy());
		},
		'/image': (_request, response) =>
			response.writeHead(200, html).end(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')),
		'/fake.pdf': (_request, response) =>
			response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.7 and nothing else'),
		'/empty': (_request, response) => response.writeHead(200, html).end(),
		'/binary': (_request, response) =>
			response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(Buffer.alloc(2_000, 7)),
	});
	const source = await followSource(app, { type: 'website', url: site.url });
	const { status, progress } = await source.untilDone();
	assert.deepEqual([status, progress.indexed], ['idle', 1]);
	const reasons: Array<[path: string, reason: RegExp]> = [
		['/large', /larger than 10 MB/],
		['/bomb', /larger than 20 MB/],
		['/cut', /broke off/],
		['/image', /does not lead to a PDF/],
		['/empty', /empty/],
		['/binary', /does not lead to a PDF/],
	];
	for (const [path, reason] of reasons) {
		const page = await source.page(`${site.url}${path}`);
		assert.equal(page.status, 'failed', path);
		assert.match(page.error.message, reason, path);
	}
	const { document_id } = await source.page(`${site.url}/fake.pdf`);
	const { body } = await app.call('GET', `/api/v1/knowledge-bases/${source.base}/documents/${document_id}`);
	assert.equal(body.status, 'error', 'the document says what is wrong with the file');
});

test('a robots.txt of many megabytes is read up to its limit', async () => {
	const site = await siteWith({
		'/': htmlPage('Home', 'Welcome.', ['/a', '/z']),
		'/a': htmlPage('A', 'The attic.'),
		'/z': htmlPage('Z', 'The zoo.'),
		'/robots.txt': (_request, response) => {
			response.write(`User-agent: *\nDisallow: /a\n${'# long\n'.repeat(80_000)}`);
			response.write(`Disallow: /z\n`);
			response.end(Buffer.alloc(12_000_000, '# long\n'));
		},
	});
	const source = await followSource(app, { type: 'website', url: site.url });
	await source.untilDone();
	assert.deepEqual(await source.pages(), ['/ fetched', '/a blocked', '/z fetched']);
});

test('some broken pages do not end a run, and pages that are too large are not requested again', async () => {
	let large = 0;
	const broken = Array.from({ length: 10 }, (_, at) => `/broken-${at}`);
	const site = await siteWith({
		'/': htmlPage('Home', 'Welcome.', [...broken, '/large', '/a']),
		'/a': htmlPage('A', 'The attic.'),
		'/large': (_request, response) => {
			large++;
			response.writeHead(200, { 'content-type': 'text/html', 'content-length': '10000001' });
			response.write('<p>Large');
		},
	});
	for (const path of broken) site.pages.set(path, (_request, response) => void response.writeHead(500).end());
	const source = await followSource(app, { type: 'website', url: site.url });
	const { status, progress } = await source.untilDone();
	assert.deepEqual([status, progress.failed, progress.indexed], ['idle', 11, 2]);
	assert.equal(site.takeRequests().filter((request) => request.startsWith('/broken')).length, 30);
	assert.equal(large, 1);
	site.pages.set('/', htmlPage('Home', 'Welcome.', broken));
	for (let run = 0; run < 2; run++) assert.equal((await source.refresh()).status, 'idle');
	assert.equal(await source.page(`${site.url}/a`), undefined, 'removed after two runs');
});

test('a site that is down ends the run, which is repeated after an hour', async () => {
	const site = await siteWith({
		'/': htmlPage(
			'Home',
			'Welcome.',
			Array.from({ length: 40 }, (_, at) => `/${at}`),
		),
	});
	const get = site.pages.get.bind(site.pages);
	site.pages.get = (path) =>
		get(path) ?? (path === '/robots.txt' ? undefined : (_request, response) => void response.writeHead(502).end());
	const source = await followSource(app, { type: 'website', url: site.url });
	const { status, error, next_run_at, finished_at, progress } = await source.untilDone();
	assert.deepEqual([status, progress.indexed], ['error', 1]);
	assert.match(error.message, /20 pages in a row/);
	assert.equal(Date.parse(next_run_at) - Date.parse(finished_at), 3_600_000);
	assert.equal(site.takeRequests().length, 21);
});

test('a page that never ends does not hold a pause or a deletion', async () => {
	let requests = 0;
	const site = await siteWith({
		'/': (_request, response) => {
			requests++;
			response.writeHead(200, { 'content-type': 'text/html' });
			response.write('<p>Slow');
		},
	});
	const source = await followSource(app, { type: 'website', url: site.url });
	await until('the page is being fetched', () => requests === 1);
	assert.equal((await app.call('POST', `${source.path}/pause`)).body.status, 'paused');
	assert.equal((await app.call('DELETE', source.path)).status, 200);
	assert.equal((await app.call('GET', source.path)).status, 404);
});
