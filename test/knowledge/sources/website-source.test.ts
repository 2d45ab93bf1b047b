import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import test, { after } from 'node:test';
import Database from 'better-sqlite3';
import { databaseFile } from '../../../src/store/index.ts';
import { startTestApp } from '../../support/app.ts';
import { until } from '../../support/until.ts';
import { followSource, htmlPage, startWebsite, type Website } from './website.ts';

const app = await startTestApp({ settings: { allow_private_network: true }, overrides: { crawlDelayMs: 0 } });
after(() => app[Symbol.asyncDispose]());

async function siteWith(pages: Record<string, string>): Promise<Website> {
	const site = await startWebsite(pages);
	after(() => site[Symbol.asyncDispose]());
	return site;
}

const redirect = (location: string) => (_request: unknown, response: import('node:http').ServerResponse) =>
	void response.writeHead(301, { location }).end();

test('follows the links of a website, each page once', async () => {
	const site = await siteWith({
		'/': htmlPage('Home', 'Welcome to the shop.', [
			'/help/',
			'/about?utm_source=home',
			'https://other.example/',
			'/logo.png',
		]),
		'/help/': htmlPage('Help', 'Ask us anything.', [
			'/',
			'returns#top',
			'/help/index.html',
			'mailto:help@shop.example',
		]),
		'/help/returns': htmlPage('Returns', 'Send it back within thirty days.', ['/help', '../about']),
		'/about': htmlPage('About', 'We sell kettles since 1904.', ['/index.html']),
	});
	site.pages.set('/help', redirect('/help/'));
	const source = await followSource(app, { type: 'website', url: site.url });
	const { status, progress } = await source.untilDone();
	assert.deepEqual([status, progress.indexed, progress.failed], ['idle', 4, 0]);
	assert.deepEqual(await source.pages(), [
		'/ fetched',
		'/about fetched',
		'/help redirected',
		'/help/ fetched',
		'/help/returns fetched',
	]);
	assert.deepEqual(site.takeRequests().sort(), ['/', '/about', '/help 301', '/help/', '/help/returns']);
	assert.match((await source.search('How many days do I have to send it back?'))[0] ?? '', /thirty days/);
	assert.equal((await source.page(`${site.url}/help`)).target_url, `${site.url}/help/`);

	const again = await source.refresh();
	assert.deepEqual([again.progress.found, again.progress.unchanged, again.progress.indexed], [5, 4, 4]);
	assert.deepEqual(site.takeRequests().sort(), ['/ 304', '/about 304', '/help 301', '/help/ 304', '/help/returns 304']);
});

test('reads the sitemaps that robots.txt names, and takes no pages of other hosts from them', async () => {
	const site = await siteWith({
		'/': htmlPage('Home', 'Welcome.', ['/linked']),
		'/linked': htmlPage('Linked', 'A page with a link to it.'),
		'/listed': htmlPage('Listed', 'A page that only the sitemap lists.', ['/behind']),
		'/behind': htmlPage('Behind', 'A page behind the listed page.'),
	});
	const listed = ['/listed', '/private/a'].map((path) => `<url><loc>${site.url}${path}</loc></url>`);
	site.pages.set('/map.xml', `<urlset>${listed.join('')}<url><loc>https://other.example/x</loc></url></urlset>`);
	site.pages.set('/robots.txt', (_request, response) =>
		response.end(
			`User-agent: *\nDisallow: /private/\n\nSitemap: ${site.url}/map.xml\nSitemap: https://other.example/map.xml\n`,
		),
	);
	const source = await followSource(app, { type: 'website', url: site.url });
	const { progress } = await source.untilDone();
	assert.equal(progress.indexed, 4);
	assert.deepEqual(await source.pages(), [
		'/ fetched',
		'/behind fetched',
		'/linked fetched',
		'/listed fetched',
		'/private/a blocked',
	]);
	// A sitemap that fails once makes no page gone.
	site.pages.set('/map.xml', (_request, response) => response.writeHead(404).end());
	await source.refresh();
	assert.ok((await source.pages()).includes('/listed fetched'));

	const shallow = await followSource(app, { type: 'website', url: site.url, depth: 0 });
	await shallow.untilDone();
	assert.deepEqual(await shallow.pages(), ['/ fetched'], 'a source of its start alone takes no other page');
});

test('one hour in which a site answers everything in the same way costs no document', async () => {
	const paths = ['/a', '/b', '/c'];
	const site = await siteWith({ '/': htmlPage('Home', 'Welcome.', paths) });
	const goodHour = () => {
		for (const path of paths) site.pages.set(path, htmlPage(`Page ${path}`, `The shelf ${path} has kettles.`));
	};
	goodHour();
	const source = await followSource(app, { type: 'website', url: site.url });
	await source.untilDone();
	site.pages.set('/sorry', htmlPage('Sorry', 'We are back soon.'));
	const moved = (_request: unknown, response: import('node:http').ServerResponse) =>
		void response.writeHead(302, { location: '/sorry' }).end();
	for (const badAnswer of [htmlPage('Home', 'Welcome.', paths), moved]) {
		for (const path of paths) site.pages.set(path, badAnswer);
		await source.refresh();
		const found = await source.search('Which shelf has kettles?');
		for (const path of paths)
			assert.ok(
				found.some((text) => text.includes(`shelf ${path}`)),
				path,
			);
		goodHour();
		await source.refresh();
		for (const path of paths) assert.ok((await source.pages()).includes(`${path} fetched`), path);
	}
});

test('a page that was removed and is back becomes a document again', async () => {
	const kettle = htmlPage('Kettle', 'The kettle costs forty euros.');
	const site = await siteWith({ '/': htmlPage('Home', 'Welcome.', ['/kettle']), '/kettle': kettle });
	const source = await followSource(app, { type: 'website', url: site.url });
	await source.untilDone();
	site.pages.delete('/kettle');
	for (let run = 0; run < 2; run++) await source.refresh();
	assert.ok(!(await source.search('What does the kettle cost?')).some((text) => text.includes('forty')));
	site.pages.set('/kettle', kettle);
	await source.refresh();
	assert.deepEqual(await source.pages(), ['/ fetched', '/kettle fetched']);
	assert.match((await source.search('What does the kettle cost?')).join('\n'), /forty/);
});

test('goes as deep and as far as allowed', async () => {
	const pages = Object.fromEntries(
		Array.from({ length: 6 }, (_, at) => [
			`/${at}`,
			htmlPage(`Page ${at}`, `This is page number ${at}.`, [`/${at + 1}`]),
		]),
	);
	const site = await siteWith(pages);
	const source = await followSource(app, { type: 'website', url: `${site.url}/0`, depth: 2 });
	await source.untilDone();
	assert.deepEqual(await source.pages(), ['/0 fetched', '/1 fetched', '/2 fetched']);
	const other = await followSource(
		app,
		{ type: 'website', url: `${site.url}/0`, max_pages: 4, exclude: ['/3'] },
		source.base,
	);
	await other.untilDone();
	assert.deepEqual(await other.pages(), ['/0 fetched', '/1 fetched', '/2 fetched']);
});

test('pages with the same content, and pages that name another as canonical, count once', async () => {
	const kettle = htmlPage('Kettle', 'The kettle holds two litres.');
	const site = await siteWith({
		'/': htmlPage('Home', 'Welcome.', ['/kettle', '/kettle-copy', '/kettle?colour=red', '/tea']),
		'/kettle': kettle,
		'/kettle-copy': kettle,
		'/kettle?colour=red': htmlPage(
			'Kettle, red',
			'The red kettle holds two litres.',
			[],
			'<link rel="canonical" href="/kettle">',
		),
		'/tea': htmlPage('Tea', 'We have green tea.', [], '<link rel="canonical" href="/">'),
	});
	const source = await followSource(app, { type: 'website', url: site.url });
	const { progress } = await source.untilDone();
	assert.equal(progress.indexed, 3);
	assert.deepEqual(await source.pages(), [
		'/ fetched',
		'/kettle fetched',
		'/kettle-copy duplicate',
		'/kettle?colour=red duplicate',
		'/tea fetched',
	]);
	assert.equal(
		(await source.search('How much does the kettle hold?')).filter((text) => text.includes('litres')).length,
		1,
	);

	// The copy counts as soon as its original does not.
	site.pages.set('/kettle', htmlPage('Kettle', 'The kettle holds three litres.'));
	await source.refresh();
	const texts = (await source.search('How much does the kettle hold?')).filter((text) => text.includes('litres'));
	assert.deepEqual(texts.map((text) => /two|three/.exec(text)?.[0]).sort(), ['three', 'two']);
});

test('obeys robots.txt and what pages ask of robots', async () => {
	const site = await siteWith({
		'/': htmlPage('Home', 'Welcome.', ['/open', '/private/a', '/private/open', '/noindex', '/nofollow']),
		'/open': htmlPage('Open', 'The open page is about tea.'),
		'/private/a': htmlPage('Private', 'The private page is about coffee.'),
		'/private/open': htmlPage('Allowed', 'The allowed page is about cocoa.'),
		'/noindex': htmlPage(
			'Hidden',
			'The hidden page is about milk.',
			['/behind'],
			'<meta name="robots" content="noindex">',
		),
		'/behind': htmlPage('Behind', 'The page behind is about juice.'),
		'/nofollow': htmlPage('End', 'The end is about water.', ['/never'], '<meta name="robots" content="nofollow">'),
		'/never': htmlPage('Never', 'Never seen.'),
	});
	site.pages.set('/robots.txt', (_request, response) =>
		response.end('User-agent: *\nDisallow: /\n\nUser-agent: Parley\nDisallow: /private/\nAllow: /private/open\n'),
	);
	const source = await followSource(app, { type: 'website', url: site.url });
	await source.untilDone();
	assert.deepEqual(await source.pages(), [
		'/ fetched',
		'/behind fetched',
		'/nofollow fetched',
		'/noindex blocked',
		'/open fetched',
		'/private/a blocked',
		'/private/open fetched',
	]);
	assert.ok(!site.takeRequests().includes('/private/a'));
	assert.match(
		(await source.page(`${site.url}/private/a`)).error.message,
		/robots\.txt of 127\.0\.0\.1:\d+ does not allow/,
	);
	assert.match((await source.page(`${site.url}/noindex`)).error.message, /asks not to be indexed/);
});

test('does not crawl a site whose robots.txt cannot be read', async () => {
	const site = await siteWith({ '/': htmlPage('Home', 'Welcome.') });
	site.pages.set('/robots.txt', (_request, response) => response.writeHead(503).end());
	const source = await followSource(app, { type: 'website', url: site.url });
	const { status, error } = await source.untilDone();
	assert.equal(status, 'error');
	assert.match(error.message, /robots\.txt of 127\.0\.0\.1:\d+ could not be read.* status 503/);
	assert.deepEqual(site.takeRequests(), []);
});

test('pages to which nothing links any more are removed by the second run', async () => {
	const site = await siteWith({
		'/': htmlPage('Home', 'Welcome.', ['/list']),
		'/list': htmlPage('List', 'All our goods.', ['/kettle', '/cup']),
		'/kettle': htmlPage('Kettle', 'The kettle costs forty euros.'),
		'/cup': htmlPage('Cup', 'The cup costs six euros.'),
	});
	const source = await followSource(app, { type: 'website', url: site.url });
	await source.untilDone();
	site.pages.set('/list', htmlPage('List', 'All our goods.', ['/cup']));
	await source.refresh();
	assert.deepEqual(await source.pages(), ['/ fetched', '/cup fetched', '/kettle gone', '/list fetched']);
	assert.ok((await source.search('What does the kettle cost?')).some((text) => text.includes('forty')));
	// A page that fails keeps the pages that it led to.
	site.pages.set('/list', (_request, response) => response.writeHead(500).end());
	const failed = await source.refresh();
	assert.deepEqual([failed.status, failed.progress.failed], ['idle', 1]);
	assert.deepEqual(await source.pages(), ['/ fetched', '/cup fetched', '/list failed']);
	assert.ok(!(await source.search('What does the kettle cost?')).some((text) => text.includes('forty')));
});

test('a document that a request deletes stays away, and its links are still followed', async () => {
	const site = await siteWith({
		'/': htmlPage('Home', 'Welcome to the secret prices.', ['/a']),
		'/a': htmlPage('A', 'The page has the number seven.'),
	});
	const source = await followSource(app, { type: 'website', url: site.url });
	await source.untilDone();
	const { document_id } = await source.page(`${site.url}/`);
	const deleted = await app.call('DELETE', `/api/v1/knowledge-bases/${source.base}/documents/${document_id}`);
	assert.equal(deleted.status, 200);
	for (let run = 0; run < 3; run++) {
		await source.refresh();
		assert.deepEqual(await source.pages(), ['/ removed', '/a fetched']);
		assert.ok(!(await source.search('secret prices')).some((text) => text.includes('secret')));
	}
});

test('a page that is gone in one form is requested in the form of its new link', async () => {
	const site = await siteWith({
		'/': htmlPage('Home', 'Welcome.', ['/help/index.html']),
		'/help/index.html': htmlPage('Help', 'Ask us anything.'),
	});
	const source = await followSource(app, { type: 'website', url: site.url });
	await source.untilDone();
	site.pages.delete('/help/index.html');
	site.pages.set('/help/', htmlPage('Help', 'Ask us anything.'));
	site.pages.set('/', htmlPage('Home', 'Welcome.', ['/help/']));
	for (let run = 0; run < 2; run++) await source.refresh();
	assert.deepEqual(await source.pages(), ['/ fetched', '/help/ fetched']);
});

test('a deleted document stays away after runs that did not find its page, and does not count towards max_pages', async () => {
	const linking = (...links: string[]) => htmlPage('Home', 'Welcome.', links);
	const site = await siteWith({
		'/': linking('/a'),
		'/a': htmlPage('A', 'The secret number is seven.'),
		'/b': htmlPage('B', 'The barn has kettles.'),
	});
	const source = await followSource(app, { type: 'website', url: site.url, max_pages: 2 });
	await source.untilDone();
	const { document_id } = await source.page(`${site.url}/a`);
	await app.call('DELETE', `/api/v1/knowledge-bases/${source.base}/documents/${document_id}`);
	site.pages.set('/', linking('/b'));
	for (let run = 0; run < 3; run++) await source.refresh();
	assert.deepEqual(await source.pages(), ['/ fetched', '/a removed', '/b fetched']);
	await app.call('PATCH', source.path, { exclude: ['/a'] });
	await source.refresh();
	await app.call('PATCH', source.path, { exclude: [] });
	site.pages.set('/', linking('/a'));
	await source.refresh();
	assert.deepEqual(await source.pages(), ['/ fetched', '/a removed', '/b gone']);
	assert.ok(!(await source.search('secret number')).some((text) => text.includes('seven')));
});

test('a deleted document does not come back under the address of a copy', async () => {
	const kettle = htmlPage('Kettle', 'The kettle holds two litres.');
	const site = await siteWith({
		'/': htmlPage('Home', 'Welcome.', ['/kettle', '/kettle-copy', '/kettle?print']),
		'/kettle': kettle,
		'/kettle-copy': kettle,
		'/kettle?print': htmlPage('Kettle', 'Two litres, printed.', [], '<link rel="canonical" href="/kettle">'),
	});
	const source = await followSource(app, { type: 'website', url: site.url });
	await source.untilDone();
	const { document_id } = await source.page(`${site.url}/kettle`);
	await app.call('DELETE', `/api/v1/knowledge-bases/${source.base}/documents/${document_id}`);
	for (let run = 0; run < 2; run++) {
		await source.refresh();
		assert.deepEqual(await source.pages(), [
			'/ fetched',
			'/kettle removed',
			'/kettle-copy duplicate',
			'/kettle?print duplicate',
		]);
	}
});

test('deleting a source removes its documents, and those of others stay', async () => {
	const site = await siteWith({
		'/': htmlPage('Home', 'The shop has kettles.', ['/a']),
		'/a': htmlPage('A', 'The cellar has kettles.'),
	});
	const source = await followSource(app, { type: 'website', url: site.url });
	const other = await followSource(app, { type: 'url', url: `${site.url}/a` }, source.base);
	await source.untilDone();
	await other.untilDone();
	const { status, body } = await app.call('DELETE', source.path);
	assert.deepEqual([status, body], [200, { id: source.id, deleted: true }]);
	assert.deepEqual(await source.search('Who has kettles?'), await other.search('Who has kettles?'));
	assert.equal((await other.search('Who has kettles?')).length, 1);
	assert.equal((await app.call('GET', source.path)).status, 404);
	assert.equal((await app.call('GET', `/api/v1/knowledge-bases/${source.base}`)).body.document_count, 1);
	assert.equal((await app.call('DELETE', `/api/v1/knowledge-bases/${source.base}`)).status, 200);
	assert.equal((await app.call('GET', other.path)).status, 404);
});

test('a deletion that a crash interrupted continues at the next start', async () => {
	const site = await siteWith({ '/': htmlPage('Home', 'The shop has kettles.') });
	const own = await startTestApp({ settings: { allow_private_network: true }, overrides: { crawlDelayMs: 0 } });
	const source = await followSource(own, { type: 'website', url: site.url });
	await source.untilDone();
	const db = new Database(databaseFile(own.dataDir));
	db.prepare("UPDATE sources SET state = 'deleting' WHERE id = ?").run(source.id);
	db.close();
	await using next = await own.restart();
	await until('the source is gone', async () => (await next.call('GET', source.path)).status === 404);
	assert.equal((await next.call('GET', `/api/v1/knowledge-bases/${source.base}`)).body.document_count, 0);
});

test('a page at which the process died again and again is not requested once more in its run', async () => {
	const site = await siteWith({ '/': htmlPage('Home', 'The shop has kettles.') });
	const source = await followSource(app, { type: 'website', url: site.url });
	await source.untilDone();
	site.takeRequests();
	const db = new Database(databaseFile(app.dataDir));
	// As after three claims that a crash ended.
	db.transaction(() => {
		db.prepare('UPDATE sources SET next_run_at = 0 WHERE id = ?').run(source.id);
		db.prepare('UPDATE jobs SET attempts = 2, due_at = 0 WHERE ref = ?').run(source.id);
	})();
	db.close();
	assert.match((await source.untilDone()).error.message, /The server stopped each time/);
	assert.deepEqual(site.takeRequests(), []);
	assert.equal((await source.refresh()).status, 'idle');
});

test('a knowledge base that is deleted while its pages are fetched leaves nothing', async () => {
	const files = async () => {
		const entries = await readdir(join(app.dataDir, 'blobs'), { recursive: true, withFileTypes: true });
		return entries.filter((entry) => entry.isFile()).length;
	};
	const before = await files();
	const held: Array<() => void> = [];
	const site = await siteWith({ '/': htmlPage('Home', 'The doomed shop has kettles.', ['/slow']) });
	site.pages.set('/slow', (_request, response) => {
		response.writeHead(200, { 'content-type': 'text/html' });
		response.write('<p>The first half');
		held.push(() => response.end(' and the second.'));
	});
	const source = await followSource(app, { type: 'website', url: site.url });
	await until('the second page is being fetched', () => held.length === 1);
	assert.equal((await app.call('DELETE', `/api/v1/knowledge-bases/${source.base}`)).status, 200);
	for (const finish of held) finish();
	await until('no file is left', async () => (await files()) === before);
	const db = new Database(databaseFile(app.dataDir), { readonly: true });
	const count = (sql: string) => db.prepare(sql).pluck().get(source.id);
	assert.deepEqual(
		[
			count('SELECT count(*) FROM sources WHERE id = ?'),
			count('SELECT count(*) FROM source_pages WHERE source_id = ?'),
			count('SELECT count(*) FROM documents WHERE source_id = ?'),
			count('SELECT count(*) FROM jobs WHERE ref = ?'),
		],
		[0, 0, 0, 0],
	);
	db.close();
});
