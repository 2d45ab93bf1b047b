import assert from 'node:assert/strict';
import { test } from 'node:test';
import { marked } from 'marked';
import { citedIndexes } from '../../src/models/index.ts';
import { passage } from '../support/passage.ts';
import { ask } from './fixtures/ask.ts';

/** Text with a meaning in Markdown or HTML. */
const HOSTILE = [
	'<script>alert(1)</script>',
	'<img src=x onerror=alert(1)>',
	'<!-- hidden',
	'</p><iframe src="//example.com">',
	'[click](javascript:alert(1))',
	'![pixel](https://evil.example/p.png)',
	'[ref][1] and [1]: https://evil.example',
	'<https://evil.example>',
	'[2] [3][4] [^1]',
	'**bold** *it* __b__ _i_ ~~gone~~ `code [1]`',
	'\\[1\\] \\\\[1] \\',
	'&lt;script&gt; &#60;b&#62; &amp;',
	'a | b | c',
	'$x$ $$y$$',
	'snake_case_name and _private_',
];

for (const text of HOSTILE) {
	test(`quotes ${text} of a document as exactly that text`, async () => {
		const item = `The tariff is ${text} in total.`;
		const answer = await ask('What is the tariff?', [passage(`- ${item}`), passage('Nothing.', { index: 2 })]);
		const html = await marked.parse(answer);
		for (const [, tag] of html.matchAll(/<\/?([a-z][\w-]*)/gi)) assert.match(tag as string, /^(p|ul|li|a)$/, html);
		// Renderers make links of bare URLs. The text of such a link is its URL.
		for (const [, href, label] of html.matchAll(/<a href="([^"]*)">([^<]*)</g)) assert.equal(href, label);
		const shown = html
			.replace(/<[^>]*>/g, '')
			.replace(/&lt;/g, '<')
			.replace(/&gt;/g, '>')
			.replace(/&quot;/g, '"')
			.replace(/&#39;/g, "'")
			.replace(/&amp;/g, '&')
			.trim();
		assert.equal(shown, `${item} [1]`);
		assert.deepEqual(
			citedIndexes(
				answer,
				[1, 2, 3, 4].map((index) => ({ index })),
			),
			[1],
		);
		assert.doesNotMatch(answer, /<[a-z/!]/i, 'harmless also where HTML is let through');
	});
}

test('escapes markup in headings and labels', async () => {
	const text = '*x* [a](b) <b>\n\nTariff `![i](u)`: 12 EUR';
	const html = await marked.parse(await ask('What is the tariff?', [passage(text)]));
	assert.doesNotMatch(html, /<(a|img|b|code|strong|em)\b/);
	assert.match(html, /\*x\* \[a\]\(b\) &lt;b&gt;, Tariff `!\[i\]\(u\)`: 12 EUR/);
	const refusal = await ask('Who is the chief executive?', [passage('Nothing.', { heading_path: ['`![i](u)` <b>'] })]);
	assert.doesNotMatch(await marked.parse(refusal), /<(a|img|b|code|strong)\b/);
});

test('keeps each list item on its line, whatever it begins with', async () => {
	const items = ['# not a heading tariff', '> not a quote tariff', '--- tariff', '1. nested tariff', '| a tariff'];
	const list = items.map((item) => `- ${item}`).join('\n');
	const html = await marked.parse(await ask('Which tariff notes are there?', [passage(`Tariff notes:\n\n${list}`)]));
	assert.doesNotMatch(html, /<(h1|blockquote|hr|ol|table)\b/);
	assert.equal(html.split('<li>').length - 1, items.length, html);
});

test('quotes code in a fence that it cannot close', async () => {
	const code = 'tariff --set 12\n``` not the end\n[1] <b>';
	const text = `To set the tariff, run:\n\n~~~~\n${code}\n~~~~`;
	const answer = await ask('How do I set the tariff?', [passage(text)]);
	const html = await marked.parse(answer);
	assert.match(html, /<code>tariff --set 12\n``` not the end\n\[1\] &lt;b&gt;\n<\/code>/);
	assert.deepEqual(citedIndexes(answer, [{ index: 1 }]), [1]);
});

test('removes invisible and direction-changing characters from a quotation', async () => {
	const text = 'The tar\u00adiff is\u200b 12\u202e EUR\u0007 and\ufeff no\u{e0041} more.';
	assert.match(await ask('What is the tariff?', [passage(text)]), /The tariff is 12 EUR and no more\. \[1\]$/);
});

test('keeps the numbers of steps and the headers of tables', async () => {
	const steps = 'How to renew the tariff:\n\n1. Sign in.\n2. Choose the tariff.\n3. Confirm.';
	assert.match(
		await ask('How do I renew the tariff?', [passage(steps)]),
		/\n1\. Sign in\.\n2\. Choose the tariff\.\n3\. Confirm\. \[1\]$/,
	);
	const table = '| Tariff | Price |\n| --- | --- |\n| Basic | 5 EUR |\n| Family | 9 EUR |\n| Team | 20 EUR |';
	assert.match(await ask('What is the price of Family?', [passage(table)]), /^Family, Price: 9 EUR \[1\]$/);
});
