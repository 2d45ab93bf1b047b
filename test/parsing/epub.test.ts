import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sniffFormat } from '../../src/parsing/index.ts';
import { outlined, parsed } from '../fixtures/documents/parsed.ts';
import { zipped } from '../fixtures/documents/zipped.ts';

const page = (body: string) =>
	`<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>${body}</body></html>`;
const item = (id: string, more = '') =>
	`<item id="${id}" href="text/${id}.xhtml" media-type="application/xhtml+xml"${more}/>`;

/** A book of chapters a, b and c, which are read in the order c, a, b, with files to add or replace. */
function makeEpub(more: Record<string, string> = {}): Buffer {
	return zipped({
		mimetype: 'application/epub+zip',
		'META-INF/container.xml':
			'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
		'OEBPS/book.opf': `<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
			<metadata><dc:title>The Book</dc:title><dc:title>Subtitle</dc:title><dc:language>en-GB</dc:language></metadata>
			<manifest>${item('a')}${item('b')}${item('c')}${item('nav', ' properties="nav"')}<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>
			<spine><itemref idref="nav"/><itemref idref="c"/><itemref idref="a"/><itemref idref="b"/></spine></package>`,
		'OEBPS/text/a.xhtml': page('<h1>First</h1><p>One.</p><div id="x"/><aside><p>A note.</p></aside>'),
		'OEBPS/text/b.xhtml': page('<p>Two.</p>'),
		'OEBPS/text/c.xhtml': page('<p>Preface text.</p>'),
		'OEBPS/text/nav.xhtml': page(
			'<nav><ol><li><a href="c.xhtml">Preface</a></li><li><a href="b.xhtml#x">Second</a></li></ol></nav>',
		),
		...more,
	});
}

test('reads the chapters of a book in reading order, with the names that its table of contents gives them', async () => {
	const { blocks, format, title, declared_language } = await parsed(makeEpub(), 'a.epub');
	assert.deepEqual([format, title, declared_language], ['epub', 'The Book', 'en']);
	assert.deepEqual(outlined(blocks), [
		'h1 Preface',
		'paragraph Preface text.',
		'h1 First',
		'paragraph One.',
		'paragraph A note.',
		'h1 Second',
		'paragraph Two.',
	]);
});

test('reads the names of chapters from the table of contents of older books', async () => {
	const ncx = `<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel><text>Foreword</text></navLabel>
		<content src="text/c.xhtml"/></navPoint></navMap></ncx>`;
	const { blocks } = await parsed(makeEpub({ 'OEBPS/toc.ncx': ncx, 'OEBPS/text/nav.xhtml': page('') }), 'a.epub');
	assert.equal(outlined(blocks)[0], 'h1 Foreword');
});

test('the content shows that a file is a book, and one with protected text is refused with that reason', async () => {
	assert.equal(sniffFormat(makeEpub(), 'a.zip', null), 'epub');
	const encryption = (file: string) =>
		`<encryption><EncryptedData><CipherData><CipherReference URI="OEBPS/${file}"/></CipherData></EncryptedData></encryption>`;
	const fonts = makeEpub({ 'META-INF/encryption.xml': encryption('font.otf') });
	assert.equal((await parsed(fonts, 'a.epub')).title, 'The Book');
	const locked = makeEpub({ 'META-INF/encryption.xml': encryption('text/a.xhtml') });
	await assert.rejects(parsed(locked, 'a.epub'), { code: 'unreadable_file', message: /DRM/ });
	await assert.rejects(parsed(zipped({ mimetype: 'application/epub+zip' }), 'a.epub'), { code: 'unreadable_file' });
});

test('a table of contents with one long name and many targets is read in linear time', {
	timeout: 120_000,
}, async () => {
	const targets = '<content src="text/x.xhtml"/>'.repeat(20_000);
	const ncx = `<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel><text>${'Long name '.repeat(300_000)}</text></navLabel>
		<content src="text/c.xhtml"/>${targets}</navPoint><navPoint><content src="text/b.xhtml"/></navPoint></navMap></ncx>`;
	const { blocks } = await parsed(makeEpub({ 'OEBPS/toc.ncx': ncx, 'OEBPS/text/nav.xhtml': page('') }), 'a.epub');
	assert.match(blocks[0]?.text ?? '', /^(?:Long name ?){50}$/);
	assert.ok(outlined(blocks).every((line) => !line.startsWith('h1 Second')));
});

test('chapters that begin within a file get their names from the table of contents', async () => {
	const text =
		'<p id="one">Tea needs water.</p><p><a id="two"/>Coffee needs beans.</p><p class="title" id="three">Cocoa</p><p>Cocoa needs milk.</p><h3 id="four">Juice</h3><p>Juice needs fruit.</p>';
	const links = [
		['one', 'Tea'],
		['two', 'Coffee'],
		['three', 'Cocoa'],
		['four', 'Juice'],
	]
		.map(([id, name]) => `<li><a href="c.xhtml#${id}">${name}</a></li>`)
		.join('');
	const book = makeEpub({
		'OEBPS/text/c.xhtml': page(text),
		'OEBPS/text/nav.xhtml': page(`<nav><ol>${links}</ol></nav>`),
	});
	assert.deepEqual(outlined((await parsed(book, 'a.epub')).blocks).slice(0, 8), [
		'h1 Tea',
		'paragraph Tea needs water.',
		'h1 Coffee',
		'paragraph Coffee needs beans.',
		'h1 Cocoa',
		'paragraph Cocoa needs milk.',
		'h3 Juice',
		'paragraph Juice needs fruit.',
	]);
});
