import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode } from '../fixtures/documents/charsets.ts';
import { outlined, parsed } from '../fixtures/documents/parsed.ts';

const PROSE =
	'The museum opens at ten in the morning and closes at six in the evening, except on Mondays, when it stays closed all day. ' +
	'Visitors who arrive late, which happens often, are let in until half past five, because a shorter visit is better than none.';

test('reads the main content of a page without the elements around it', async () => {
	const page = `<!doctype html><html lang="en-GB"><head><title>Opening hours – City Museum</title><style>p{}</style></head>
		<body><nav><a href="/">Home</a> <a href="/shop">Shop</a></nav>
		<main><article><h1>Opening hours</h1><p>${PROSE}</p><h2>Groups</h2><p>${PROSE}</p></article></main>
		<aside>Subscribe to our newsletter</aside><footer>Imprint and privacy</footer><script>alert(1)</script></body></html>`;
	const { blocks, title, declared_language } = await parsed(page, 'page.html');
	const text = blocks.map((block) => block.text).join('\n');
	assert.equal(title, 'Opening hours');
	assert.equal(declared_language, 'en');
	assert.match(text, /closes at six/);
	assert.ok(outlined(blocks).includes('h2 Groups'));
	assert.doesNotMatch(text, /Shop|newsletter|Imprint|alert/);
});

test('a short page without any structure is read whole', async () => {
	const { blocks } = await parsed('<p>Call us: 555 0199.</p>', 'page.html');
	assert.deepEqual(outlined(blocks), ['paragraph Call us: 555 0199.']);
});

test('reads a page without the tags of html, head and body', async () => {
	const { blocks, title } = await parsed('<!doctype html><title>Short</title><p>One<p>Two', 'page.html');
	assert.equal(title, 'Short');
	assert.deepEqual(outlined(blocks), ['paragraph One', 'paragraph Two']);
});

test('keeps all answers of a page of questions', async () => {
	const questions = Array.from({ length: 8 }, (_, index) => `<h2>Question ${index}?</h2><p>Answer ${index}.</p>`);
	const page = `<html><body><header>Top</header><main><h1>Questions</h1>${questions.join('')}</main></body></html>`;
	const text = outlined((await parsed(page, 'faq.html')).blocks);
	for (let index = 0; index < 8; index++) {
		assert.ok(text.includes(`h2 Question ${index}?`));
		assert.ok(text.includes(`paragraph Answer ${index}.`));
	}
});

test('lists, tables and code of a page keep their shape', async () => {
	const page = `<html><body><article><p>${PROSE}</p><ul><li>one</li><li>two</li></ul><ol start="3"><li>three</li></ol>
		<table><tr><th>Plan</th><th>Price</th></tr><tr><td>Basic</td><td>5 <b>euros</b></td></tr></table>
		<pre>if (x)\n  y();</pre><blockquote>Said<br>she</blockquote></article></body></html>`;
	const { blocks } = await parsed(page, 'page.html');
	assert.deepEqual(outlined(blocks).slice(1), [
		'item - one',
		'item - two',
		'item 3. three',
		'row Plan | Price',
		'row Basic | 5 euros',
		'code if (x)\n  y();',
		'quote Said\nshe',
	]);
});

test('reads a layout table as its content', async () => {
	const page = `<table><tr><td><p>${PROSE}</p><p>${PROSE}</p></td><td><h2>Side</h2><p>Note.</p></td></tr></table>`;
	const { blocks } = await parsed(page, 'page.html');
	assert.ok(blocks.every((block) => block.kind !== 'row'));
	assert.ok(outlined(blocks).includes(`paragraph ${PROSE}`));
});

test('a charset is taken from the header, from the page, or from the bytes', async () => {
	const text = 'Größenänderungen für Fußgänger';
	const plain = encode(`<html><body><p>${text}</p>`, 'windows-1252');
	const named = encode(`<html><head><meta charset="windows-1252"></head><body><p>${text}</p>`, 'windows-1252');
	const russian = encode('<html><head><meta charset=koi8-r></head><body><p>Музей открыт</p>', 'koi8-r');
	const wide = Buffer.from(`\ufeff<html><head><meta charset="utf-8"></head><body><p>${text}</p>`, 'utf16le');
	for (const [bytes, type] of [
		[plain, 'text/html; charset=windows-1252'],
		[named, 'text/html'],
		[wide, null],
	] as const) {
		assert.deepEqual(outlined((await parsed(bytes, 'page.html', type)).blocks), [`paragraph ${text}`]);
	}
	assert.deepEqual(outlined((await parsed(russian, 'page.html')).blocks), ['paragraph Музей открыт']);
});

test('hidden elements are not read', async () => {
	const page = '<body><p hidden>a</p><p style="display: none">b</p><p aria-hidden="true">c</p><p>d</p></body>';
	assert.deepEqual(outlined((await parsed(page, 'page.html')).blocks), ['paragraph d']);
});

test('markup nested ten thousand deep is read in bounded time', { timeout: 15_000 }, async () => {
	const { blocks } = await parsed(`<html><body>${'<div>'.repeat(10_000)}Deep text`, 'page.html');
	assert.deepEqual(outlined(blocks), ['paragraph Deep text']);
});
