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

test('markup nested ten thousand deep is read in bounded time', { timeout: 120_000 }, async () => {
	const { blocks } = await parsed(`<html><body>${'<div>'.repeat(10_000)}Deep text`, 'page.html');
	assert.deepEqual(outlined(blocks), ['paragraph Deep text']);
});

test('an empty header cell keeps its column', async () => {
	const page = `<main><h1>Prices</h1><table><thead><tr><th></th><th>Adults</th><th>Children</th></tr></thead>
		<tbody><tr><th>Day</th><td>6 €</td><td>3 €</td></tr><tr><th>Year</th><td></td><td>90 €</td></tr></tbody></table></main>`;
	const { blocks } = await parsed(page, 'page.html');
	assert.deepEqual(outlined(blocks).slice(1), ['row | Adults | Children', 'row Day | 6 € | 3 €', 'row Year |  | 90 €']);
});

test('a spanning cell is read in each row and column that it spans', async () => {
	const page = `<main><h1>Prices</h1><table><thead><tr><th rowspan="2"></th><th>Home</th><th colspan="2">Work</th></tr>
		<tr><th>Solo</th><th>Team</th><th>Firm</th></tr></thead>
		<tr><th rowspan="2">Day</th><td>1</td><td colspan="2">5</td></tr><tr><td>2</td><td>6</td><td>7</td></tr></table></main>`;
	const { blocks } = await parsed(page, 'page.html');
	assert.deepEqual(outlined(blocks).slice(1), [
		'row | Home Solo | Work Team | Work Firm',
		'row Day | 1 | 5 | 5',
		'row Day | 2 | 6 | 7',
	]);
});

test('a row with one heading names the rows after it, which keep the header of the table', async () => {
	const page = `<main><h1>Plans</h1><table><caption>All plans</caption><tr><th></th><th>Solo</th><th>Firm</th></tr>
		<tr><th colspan="3">Limits</th></tr><tr><th>Projects</th><td>3</td><td>40</td></tr>
		<tr><th colspan="3">Support</th></tr><tr><th>Phone</th><td>no</td><td>yes</td></tr></table></main>`;
	const { blocks } = await parsed(page, 'page.html');
	assert.deepEqual(outlined(blocks).slice(1), [
		'paragraph All plans',
		'paragraph Limits',
		'row | Solo | Firm',
		'row Projects | 3 | 40',
		'paragraph Support',
		'row | Solo | Firm',
		'row Phone | no | yes',
	]);
	assert.deepEqual(
		blocks.flatMap((block) => (block.kind === 'row' && block.table !== undefined ? [block.table] : [])),
		[
			{ header: true, caption: 'Limits' },
			{ header: true, caption: 'Support' },
		],
	);
});

test('a first row in bold or with an empty corner is the header', async () => {
	for (const first of ['<td><b>Plan</b></td><td><strong>Price</strong></td>', '<td></td><td>Price</td>']) {
		const page = `<main><table><tr>${first}</tr><tr><td>Solo</td><td>5</td></tr></table></main>`;
		const [header] = (await parsed(page, 'page.html')).blocks;
		assert.deepEqual(header?.kind === 'row' && header.table, { header: true });
	}
});

test('a table of prices with lists in its cells keeps its columns', async () => {
	const page = `<main><table><tr><th>Solo</th><th>Firm</th></tr>
		<tr><td><ul><li>1 user</li><li>Mail</li></ul></td><td><p>9 users</p><p>Phone</p></td></tr></table></main>`;
	assert.deepEqual(outlined((await parsed(page, 'page.html')).blocks), [
		'row Solo | Firm',
		'row - 1 user - Mail | 9 users Phone',
	]);
});

test('spans that multiply are read in bounded size', async () => {
	const cell = `<td colspan="1000" rowspan="60000">${'word '.repeat(30)}</td>`;
	const page = `<main><table>${`<tr><td>a</td>${cell}</tr>`.repeat(3000)}</table></main>`;
	const { blocks } = await parsed(page, 'page.html');
	assert.ok(blocks.reduce((sum, { text }) => sum + text.length, 0) < 10_000_000);
});

test('a term stands with its description', async () => {
	const page = `<main><h1>Words</h1><dl><dt>Float</dt><dd>Days of slack.</dd><dt>Fee</dt><dt>Charge</dt><dd>9 €</dd><dd>once</dd>
		<div><dt>Can I pay later?</dt><dd><p>Yes.</p><p>Ask us.</p></dd></div>
		<dt>Box</dt><dd><ul><li>Cup</li><li>Spoon</li></ul></dd><dt>Open</dt></dl></main>`;
	assert.deepEqual(outlined((await parsed(page, 'page.html')).blocks).slice(1), [
		'item - Float: Days of slack.',
		'item - Fee, Charge: 9 €',
		'item - Fee, Charge: once',
		'item - Can I pay later? Yes.',
		'paragraph Ask us.',
		'paragraph Box:',
		'item - Cup',
		'item - Spoon',
		'item - Open',
	]);
});

test('keeps tables, lists and definition lists that the main content extraction leaves out', async () => {
	const faq = Array.from({ length: 6 }, (_, i) => `<section><h2>Question ${i}, and why?</h2><p>${PROSE}</p></section>`);
	const page = `<html><body><nav><a href="/">Home</a></nav><main><h1>Prices</h1>
		<div class="sidebar-widget"><table><tr><th>Plan</th><th>Price</th></tr><tr><td>Basic membership of the museum</td><td>5 €</td></tr></table>
		<ul class="social"><li>Children up to the age of six: free</li><li>Groups of ten and more: 4 € each</li></ul>
		<dl class="sponsor"><dt>Lost ticket in the car park</dt><dd>18 €</dd><dt>Locker, large</dt><dd>2 €</dd></dl></div>
		<div class="article-body">${faq.join('')}</div></main></body></html>`;
	const text = outlined((await parsed(page, 'page.html')).blocks).join('\n');
	for (const part of ['Basic membership of the museum | 5 €', 'Groups of ten', 'Locker, large: 2 €', 'Question 5'])
		assert.ok(text.includes(part), part);
	assert.doesNotMatch(text, /Home/);
});

test('collapsed content is read', async () => {
	const page = `<html><body><main><h1>Help</h1>
		<h2><button aria-expanded="false" aria-controls="a1">Lost password</button></h2><div id="a1" hidden><p>Use the link.</p></div>
		<button class="toggle" aria-expanded="false">Second device</button><div style="display: none"><p>Scan the code.</p></div>
		<div class="accordion"><h3>Groups <span aria-hidden="true">+</span></h3><div aria-hidden="true"><p>Ten or more.</p></div></div>
		<details><summary>Parking?</summary><p>Behind the house.</p></details>
		<div role="tablist"><button role="tab" id="t1" aria-controls="p1">Monthly</button><button role="tab" id="t2" aria-controls="p2">Yearly</button></div>
		<div role="tabpanel" id="p1"><p>9 € each.</p></div><div role="tabpanel" id="p2" hidden><p>90 € each.</p></div>
		<aside><p>Bring your card.</p></aside><p hidden>Draft.</p><button>Save</button>
		</main></body></html>`;
	assert.deepEqual(outlined((await parsed(page, 'page.html')).blocks), [
		'h2 Help',
		'h2 Lost password',
		'paragraph Use the link.',
		'paragraph Second device',
		'paragraph Scan the code.',
		'h3 Groups',
		'paragraph Ten or more.',
		'paragraph Parking?',
		'paragraph Behind the house.',
		'paragraph Monthly:',
		'paragraph 9 € each.',
		'paragraph Yearly:',
		'paragraph 90 € each.',
		'paragraph Bring your card.',
	]);
});

test('menus, breadcrumbs and cookie banners are not read', async () => {
	const page = `<html><body><div id="cookie-bar"><p>We use cookies.</p><button>Accept</button></div>
		<button aria-expanded="false" aria-controls="menu">Menu</button><div id="menu" hidden><a href="/a">Rooms</a> <a href="/b">Tours</a></div>
		<div class="main-nav"><a href="/a">Rooms</a> <a href="/b">Tours</a></div>
		<main><div class="breadcrumbs"><a href="/">Start</a> › Visit</div><h1>Visit</h1><p>Open daily.</p>
		<h2>Our menu</h2><ul class="menu"><li>Soup 4 €</li><li>Salad 6 €</li></ul></main></body></html>`;
	assert.deepEqual(outlined((await parsed(page, 'page.html')).blocks), [
		'h2 Visit',
		'paragraph Open daily.',
		'h2 Our menu',
		'item - Soup 4 €',
		'item - Salad 6 €',
	]);
});

test('a link beside a heading is not part of it', async () => {
	const page = `<main><h2>History<span class="mw-editsection">[<a href="/e">edit</a>]</span></h2><p>Old.</p>
		<h2>Today [edit]</h2><p>New.</p><h3>Setup<a class="headerlink" href="#s">¶</a></h3><p>Fast.</p></main>`;
	assert.deepEqual(
		outlined((await parsed(page, 'page.html')).blocks).filter((line) => line.startsWith('h')),
		['h2 History', 'h2 Today', 'h3 Setup'],
	);
});

const tableLines = async (inner: string) =>
	outlined((await parsed(`<main><h1>T</h1><table>${inner}</table></main>`, 'page.html')).blocks).slice(1);

test('an empty row counts for the spans above it', async () => {
	const rows = '<tr><th>Day</th><th>Open</th></tr><tr><td rowspan="2">Monday</td><td>9–12</td></tr><tr></tr>';
	assert.deepEqual(await tableLines(`${rows}<tr><td>Tuesday</td><td>10–12</td></tr>`), [
		'row Day | Open',
		'row Monday | 9–12',
		'row Tuesday | 10–12',
	]);
});

test('a span ends with its group of rows', async () => {
	for (const span of ['3', '0']) {
		const rows =
			`<thead><tr><th>Room</th><th>Beds</th></tr></thead><tbody><tr><td rowspan="${span}">Red</td><td>1</td></tr>` +
			'<tr><td>2</td></tr></tbody><tbody><tr><td>Blue</td><td>4</td></tr></tbody>';
		assert.deepEqual(await tableLines(rows), ['row Room | Beds', 'row Red | 1', 'row Red | 2', 'row Blue | 4']);
	}
});

test('a value keeps its column where a span is too long to be repeated', async () => {
	const rows = Array.from({ length: 40 }, (_, index) => `<tr><td>v${index}</td></tr>`);
	const lines = await tableLines(
		`<tr><th>Text</th><th>Value</th></tr><tr><td rowspan="41">${'word '.repeat(30)}</td><td>v</td></tr>${rows.join('')}`,
	);
	assert.equal(lines.length, 42);
	for (const line of lines.slice(1)) assert.match(line, /^row (?:word[^|]*)?\| v\d*$/);
});

test('an empty or hidden description ends the terms before it', async () => {
	const list =
		'<dl><dt>Fax<dd></dd><dt>Phone<dd>123<dt>Pager<dd hidden>9</dd><dt>Mail<dd>a@b.example<dt hidden>Old<dd>Former.</dl>';
	const { blocks } = await parsed(`<main><h1>Contact</h1>${list}</main>`, 'page.html');
	assert.deepEqual(outlined(blocks).slice(1), [
		'item - Fax',
		'item - Phone: 123',
		'item - Pager',
		'item - Mail: a@b.example',
		'paragraph Former.',
	]);
});

test('hidden rows, cells and captions of a table are not read', async () => {
	const rows =
		'<caption hidden>Old prices</caption><tr><th>Plan</th><th hidden>Draft</th><th>Price</th></tr>' +
		'<tr><td>Solo</td><td style="display:none">1</td><td>5</td></tr><tr hidden><td>Gone</td><td>2</td></tr>' +
		'<tr><td>Firm</td><td hidden>3</td><td>9<span aria-hidden="true">*</span></td></tr>';
	assert.deepEqual(await tableLines(rows), ['row Plan | Price', 'row Solo | 5', 'row Firm | 9']);
});

test('a title over two rows, and a second row of names, are read as such without any mark', async () => {
	const rows =
		'<tr><td colspan="3" rowspan="2">Prices 2026</td></tr><tr></tr>' +
		'<tr><td rowspan="2"></td><td colspan="2">Ticket</td></tr><tr><td>Adult</td><td>Child</td></tr>' +
		'<tr><td>Day</td><td>6 €</td><td>3 €</td></tr>';
	assert.deepEqual(await tableLines(rows), [
		'paragraph Prices 2026',
		'row | Ticket Adult | Ticket Child',
		'row Day | 6 € | 3 €',
	]);
});

test('a class of the whole page does not show its hidden parts', async () => {
	const page = `<html><body class="accordion-theme"><main id="faq"><h1>Help</h1><p>Call us.</p><p hidden>Draft.</p>
		<div class="tab-content"><section><div><div><div><p hidden>Another draft.</p></div></div></div></section></div></main></body></html>`;
	const text = outlined((await parsed(page, 'page.html')).blocks).join('\n');
	assert.match(text, /Call us/);
	assert.doesNotMatch(text, /raft/);
});

test('reads what stands before and after a page, and pages one after the other', async () => {
	const pages = [
		'<html><head><title>A</title></head><body><p>one</p></body></html><p>two</p>three<html><head><style>p{}</style></head><body>four</body></html>',
		'<p>one</p>two<html><body><p>three</p><html><body>four</body></html></body></html>',
	];
	for (const page of pages) {
		const { blocks } = await parsed(page, 'a.html');
		assert.match(blocks.map(({ text }) => text).join(' '), /^one two three four$/);
	}
});

test('superscript numbers stay apart from the number before them, and links to notes are left out', async () => {
	const page =
		'<main><p>It costs £13<sup>1</sup>, 10<sup>6</sup> m<sup>2</sup>, the 1<sup>st</sup> fee<sup><a href="#n1">1</a></sup>, 5<sup>[<a href="#n2">2</a>]</sup>.</p></main>';
	assert.deepEqual(outlined((await parsed(page, 'a.html')).blocks), [
		'paragraph It costs £13^1, 10^6 m², the 1st fee, 5.',
	]);
});

test('a heading of many edit links is read in linear time', { timeout: 120_000 }, async () => {
	const page = `<main><h2>${'[edit]'.repeat(200_000)}x</h2><p>Text</p></main>`;
	const { blocks } = await parsed(page, 'a.html');
	assert.equal(blocks.length, 2);
});
