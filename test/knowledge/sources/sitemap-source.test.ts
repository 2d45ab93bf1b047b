import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startTestApp } from '../../support/app.ts';
import { followSource, htmlPage, startWebsite, type Website } from './website.ts';

const app = await startTestApp({ settings: { allow_private_network: true }, overrides: { crawlDelayMs: 0 } });
after(() => app[Symbol.asyncDispose]());

/** A website with a sitemap of these paths. */
async function siteWith(paths: string[]): Promise<Website> {
	const site = await startWebsite();
	after(() => site[Symbol.asyncDispose]());
	for (const path of paths) site.pages.set(path, htmlPage(`Page ${path}`, `The shelf of ${path} has kettles.`));
	list(site, paths);
	return site;
}

function list(site: Website, paths: string[]): void {
	const entries = paths.map((path) => `<url><loc>${site.url}${path}</loc></url>`).join('');
	site.pages.set('/sitemap.xml', `<?xml version="1.0"?><urlset>${entries}</urlset>`);
}

test('the pages of a sitemap become documents, and follow the sitemap', async () => {
	const site = await siteWith(['/a', '/b', '/c']);
	const source = await followSource(app, { type: 'sitemap', url: `${site.url}/sitemap.xml` });
	const first = await source.untilDone();
	assert.deepEqual([first.status, first.error], ['idle', null]);
	assert.deepEqual(first.progress, { found: 3, fetched: 3, indexed: 3, unchanged: 0, failed: 0, gone: 0 });
	site.takeRequests();

	site.pages.set('/d', htmlPage('Page /d', 'The shelf of /d has marmalade.'));
	site.pages.set('/a', htmlPage('Page /a', 'The shelf of /a has teapots.'));
	list(site, ['/a', '/b', '/d']);
	const second = await source.refresh();
	assert.deepEqual(second.progress, { found: 3, fetched: 3, indexed: 4, unchanged: 1, failed: 0, gone: 1 });
	assert.deepEqual(site.takeRequests().sort(), ['/a', '/b 304', '/d', '/sitemap.xml']);
	assert.deepEqual(await source.pages(), ['/a fetched', '/b fetched', '/c gone', '/d fetched']);
	assert.match(
		(await source.page(`${site.url}/c`)).error.message,
		/sitemap does not list the page any more\. Its document is removed/,
	);
	assert.equal(
		(await source.search('What does the shelf of /c have?')).some((text) => text.includes('/c')),
		true,
	);

	const third = await source.refresh();
	assert.equal(third.progress.indexed, 3);
	assert.deepEqual(await source.pages(), ['/a fetched', '/b fetched', '/d fetched']);
	assert.equal(
		(await source.search('What does the shelf of /c have?')).some((text) => text.includes('/c')),
		false,
	);
});

test('follows an index of compressed sitemaps, and takes no pages of other hosts', async () => {
	const site = await siteWith(['/a', '/b']);
	const index = `<sitemapindex><sitemap><loc>${site.url}/one.xml.gz</loc></sitemap><sitemap><loc>${site.url}/two.txt</loc></sitemap></sitemapindex>`;
	site.pages.set('/index.xml', index);
	site.pages.set('/one.xml.gz', (_request, response) =>
		response.end(
			gzipSync(`<urlset><url><loc>${site.url}/a</loc></url><url><loc>https://other.example/x</loc></url></urlset>`),
		),
	);
	site.pages.set('/two.txt', (_request, response) => response.end(`${site.url}/b\n${site.url}/b?utm_source=x\n`));
	const source = await followSource(app, { type: 'sitemap', url: `${site.url}/index.xml` });
	assert.equal((await source.untilDone()).progress.indexed, 2);
	assert.deepEqual(await source.pages(), ['/a fetched', '/b fetched']);
});

test('sitemaps whose names change with each run do not keep out new ones', async () => {
	const site = await siteWith(['/a', '/b']);
	const list = (names: string[], page: string) => {
		for (const name of names) site.pages.set(name, `<urlset><url><loc>${site.url}${page}</loc></url></urlset>`);
		const entries = names.map((name) => `<sitemap><loc>${site.url}${name}</loc></sitemap>`);
		site.pages.set('/index.xml', `<sitemapindex>${entries.join('')}</sitemapindex>`);
	};
	list(
		Array.from({ length: 99 }, (_, at) => `/${at}.xml`),
		'/a',
	);
	const source = await followSource(app, { type: 'sitemap', url: `${site.url}/index.xml` });
	await source.untilDone();
	list([], '');
	await source.refresh();
	list(['/new.xml'], '/b');
	await source.refresh();
	assert.deepEqual(await source.pages(), ['/b fetched']);
});

test('a sitemap that cannot be read removes nothing and says why', async () => {
	const site = await siteWith(['/a']);
	const source = await followSource(app, { type: 'sitemap', url: `${site.url}/sitemap.xml` });
	await source.untilDone();
	const failures: Array<[answer: Parameters<typeof site.pages.set>[1] | null, sentence: RegExp]> = [
		[null, /status 404/],
		[(_request, response) => response.writeHead(500).end(), /status 500/],
		[htmlPage('Sitemap', 'All pages.'), /does not lead to a sitemap/],
	];
	for (const [answer, sentence] of failures) {
		if (answer === null) site.pages.delete('/sitemap.xml');
		else site.pages.set('/sitemap.xml', answer);
		for (let run = 0; run < 2; run++) {
			const { status, error, progress } = await source.refresh();
			assert.deepEqual([status, progress.indexed], ['error', 1]);
			assert.match(error.message, sentence);
		}
	}
});

test('takes as many pages as allowed, within the patterns', async () => {
	const site = await siteWith(['/help/1', '/help/2', '/help/3', '/help/4', '/blog/1', '/help/print/1', '/logo.png']);
	const url = `${site.url}/sitemap.xml`;
	const source = await followSource(app, {
		type: 'sitemap',
		url,
		include: ['/help/*'],
		exclude: ['*/print/*'],
		max_pages: 3,
	});
	const { progress } = await source.untilDone();
	assert.deepEqual([progress.found, progress.indexed], [3, 3]);
	assert.deepEqual(await source.pages(), ['/help/1 fetched', '/help/2 fetched', '/help/3 fetched']);
	await app.call('PATCH', source.path, { max_pages: 10, exclude: ['/help/2', '*/print/*'] });
	await source.refresh();
	assert.deepEqual(
		await source.pages(),
		['/help/1 fetched', '/help/3 fetched', '/help/4 fetched'],
		'at once, because it is excluded',
	);
});
