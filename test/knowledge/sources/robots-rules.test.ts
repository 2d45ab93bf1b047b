import assert from 'node:assert/strict';
import test from 'node:test';
import { parseRobots } from '../../../src/knowledge/sources/robots-rules.ts';

function allowed(robots: string, paths: string[]): string[] {
	const rules = parseRobots(robots);
	return paths.filter((path) => rules.allows(path));
}

test('the group of the own name applies in place of the general one, whatever its case and order', () => {
	const robots = 'User-agent: *\nDisallow: /\n\nUser-Agent: PARLEY\nUser-agent: other\nDisallow: /private\n';
	assert.deepEqual(allowed(robots, ['/', '/private', '/private/a', '/public']), ['/', '/public']);
	assert.deepEqual(allowed('User-agent: other\nDisallow: /', ['/a']), ['/a']);
	assert.deepEqual(
		allowed('User-agent: Parley/1.0\nDisallow: /a\nUser-agent: parley\nDisallow: /b', ['/a', '/b', '/c']),
		['/c'],
	);
	assert.deepEqual(allowed('User-agent: parleybot\nDisallow: /', ['/a']), ['/a'], 'another name');
});

test('the longest matching rule wins, and of two equally long rules Allow', () => {
	const robots =
		'User-agent: *\nDisallow: /help\nAllow: /help/public\nDisallow: /help/public/not\nAllow: /same\nDisallow: /same\n';
	assert.deepEqual(allowed(robots, ['/help', '/help/public', '/help/public/not', '/same', '/else']), [
		'/help/public',
		'/same',
		'/else',
	]);
});

test('* stands for any characters and $ for the end', () => {
	const robots = 'User-agent: *\nDisallow: /*.pdf$\nDisallow: /a*b*c\nDisallow: /only$\nDisallow: *?sort=\n';
	assert.deepEqual(
		allowed(robots, ['/x.pdf', '/x.pdf?y', '/a-b-c-d', '/acb', '/only', '/only/a', '/list?sort=up', '/list?page=1']),
		['/x.pdf?y', '/acb', '/only/a', '/list?page=1'],
	);
});

test('escapes and characters beyond ASCII are compared in one form', () => {
	assert.deepEqual(
		allowed('User-agent: *\nDisallow: /caf%c3%a9\nDisallow: /%7eann\nDisallow: /über', [
			'/caf%C3%A9',
			'/~ann/a',
			'/%C3%BCber',
		]),
		[],
	);
});

test('comments, empty rules, unknown lines and foreign line ends are read as they are meant', () => {
	const robots =
		'\uFEFF# all\rUser-agent: * # everyone\r\nSitemap: https://shop.example/s.xml\nDisallow:\nDisallow: /a # not this\nnonsense\nHost: x';
	assert.deepEqual(allowed(robots, ['/', '/a', '/b']), ['/', '/b']);
	assert.deepEqual(allowed('<html><body>Not found</body></html>', ['/a']), ['/a']);
	assert.deepEqual(allowed('Disallow: /', ['/a']), ['/a'], 'a rule without an agent');
});

test('the delay between two requests is read with the group', () => {
	assert.equal(parseRobots('User-agent: *\nCrawl-delay: 2.5\nDisallow: /a').crawlDelayMs, 2_500);
	assert.equal(parseRobots('User-agent: other\nCrawl-delay: 9').crawlDelayMs, null);
	for (const value of ['', 'soon', '-1'])
		assert.equal(parseRobots(`User-agent: *\nCrawl-delay: ${value}`).crawlDelayMs, null);
});

test('a hostile robots.txt does not take long', () => {
	const rules = `Disallow: /${'*a'.repeat(15)}b\n`.repeat(20_000);
	const robots = parseRobots(`User-agent: *\n${rules}`);
	const started = process.cpuUsage();
	assert.ok(robots.allows(`/${'a'.repeat(2_000)}`));
	const { user } = process.cpuUsage(started);
	assert.ok(user < 2_000_000, `${user} µs`);
});

test('collects the sitemaps of a site, wherever they stand', () => {
	const text =
		'Sitemap: https://shop.example/a.xml\nUser-agent: *\nsitemap:/b.xml#c  # the others\nDisallow: /x\nSitemap:\n';
	const { sitemaps, allows } = parseRobots(text);
	assert.deepEqual(sitemaps, ['https://shop.example/a.xml', '/b.xml#c']);
	assert.equal(allows('/x'), false, 'they do not end a group');
	assert.equal(parseRobots('Sitemap: /s.xml\n'.repeat(200)).sitemaps.length, 100);
});
