import assert from 'node:assert/strict';
import test from 'node:test';
import {
	charsetOfPage,
	type PageFacts,
	PageReader,
	robotsDirectives,
} from '../../../src/knowledge/sources/page-reader.ts';

const ADDRESS = 'https://shop.example/help/a';

function read(html: string | Buffer, pieceSize = 1_000_000, charset = 'utf-8'): PageFacts {
	const reader = new PageReader(ADDRESS, charset);
	const bytes = Buffer.from(html);
	for (let at = 0; at < bytes.length; at += pieceSize) reader.write(bytes.subarray(at, at + pieceSize));
	return reader.end();
}

const linksOf = (html: string) => read(html).links.map(({ url }) => url);

test('finds the links of a page once, in their order', () => {
	const html = `<a href="b">B</a><A HREF='/c?x=1&amp;y=2'>C</A><area href=d><a href="b#part">B again</a>
		<a href="/n" rel="nofollow noopener">not</a><a>none</a><a href="mailto:a@b.example">mail</a><iframe src="/frame"></iframe>`;
	assert.deepEqual(linksOf(html), [
		'https://shop.example/help/b',
		'https://shop.example/c?x=1&y=2',
		'https://shop.example/help/d',
		'https://shop.example/frame',
	]);
});

test('resolves links by the base element, and ignores links in comments and scripts', () => {
	assert.deepEqual(linksOf('<base href="/docs/"><a href="x">X</a>'), ['https://shop.example/docs/x']);
	assert.deepEqual(linksOf('<!-- <a href="/a">A</a> --><script>"<a href=/b>"</script><a href="/c">C</a>'), [
		'https://shop.example/c',
	]);
});

test('reads the canonical address and what the page asks of robots', () => {
	const page = read(
		'<head><link rel="canonical" href="/help/"><meta name="ROBOTS" content="NoIndex, nofollow"></head><a href="/x">X</a>',
	);
	assert.equal(page.canonical?.url, 'https://shop.example/help/');
	assert.deepEqual([page.noindex, page.nofollow, page.links], [true, true, []]);
	assert.ok(read('<meta name="parley" content="none">').noindex);
	assert.ok(!read('<meta name="otherbot" content="noindex">').noindex);
});

test('directives behind the name of another agent are skipped', () => {
	const cases: Array<[text: string, noindex: boolean]> = [
		['noindex', true],
		['nofollow noindex', true],
		['googlebot: noindex, nofollow', false],
		['googlebot: nofollow, parley: noindex', true],
		['noindex, googlebot: nofollow', true],
		['max-snippet: 20, noindex', true],
		['unavailable_after: 25 Jun 2030 15:00:00 PST, none', true],
	];
	for (const [text, noindex] of cases) assert.equal(robotsDirectives(text).noindex, noindex, text);
});

test('the content is the same in whatever pieces and with whatever tokens the page arrives', () => {
	const html =
		'<html><body class="a"><h1>Prices &amp; terms</h1>  <p>Tea \n costs <b>two</b> euros.</p><input value="t1"><script>1</script></body></html>';
	const { content } = read(html);
	for (const size of [1, 2, 3, 7, 50]) assert.equal(read(html, size).content, content, `${size} bytes`);
	assert.equal(
		read(html.replace('t1', 't2').replace('<script>1', '<script>22').replace('"a"', '"b"')).content,
		content,
	);
	for (const other of [
		html.replace('two', 'three'),
		html.replace('<b>two</b>', 'two'),
		html.replace('h1', 'h2'),
		html.replace('</b> euros', ' euros</b>'),
	]) {
		assert.notEqual(read(other).content, content, other);
	}
});

test('reads the encoding from the header, else from the page', () => {
	assert.equal(charsetOfPage('text/html; charset="ISO-8859-1"', Buffer.from('')), 'ISO-8859-1');
	assert.equal(charsetOfPage('text/html', Buffer.from('<meta charset=windows-1252>')), 'windows-1252');
	assert.equal(
		charsetOfPage(undefined, Buffer.from('<meta http-equiv=c content="text/html; charset=utf-16">')),
		'utf-16',
	);
	const latin = Buffer.from('<a href="/caf\xe9">', 'latin1');
	assert.equal(read(latin, 100, 'iso-8859-1').links[0]?.url, 'https://shop.example/caf%C3%A9');
	assert.equal(read('<a href="/x">', 100, 'no-such-charset').links.length, 1);
});

test('a hostile page is read in bounded time and memory', () => {
	const manyLinks = Array.from({ length: 50_000 }, (_, at) => `<a href="/${at}">`).join('');
	assert.equal(read(manyLinks).links.length <= 2_000, true);
	const started = process.cpuUsage();
	const deep = read(`${'<b>'.repeat(200_000)}${'</i>'.repeat(200_000)}<a href="/x">`);
	assert.deepEqual([deep.links, deep.content], [[], null], 'the rest is not read');
	read(`<a href="${'x'.repeat(5_000_000)}">`, 64 * 1024);
	const names = Array.from({ length: 300 }, (_, at) => `x${at}`).join(' ');
	const attributes = read(`<a href="/x">X</a><p ${names}><a href="/y">Y</a>`);
	assert.deepEqual([attributes.links.length, attributes.content], [1, null], 'a tag has too many attributes');
	const { user } = process.cpuUsage(started);
	assert.ok(user < 5_000_000, `${user} µs`);
});
