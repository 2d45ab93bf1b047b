import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type MarkdownNode, parseMarkdown, plainText, safeUrl } from '../../src/markdown/index.ts';
import { HOSTILE } from '../browser/hostile-texts.ts';

/** Nodes in a short notation: `p(text strong(bold))`. */
function told(nodes: readonly MarkdownNode[]): string {
	return nodes
		.map((node) => {
			if (typeof node === 'string') return node.replace(/\n/g, '⏎');
			const more = node.href ?? node.number ?? '';
			return `${node.tag}${more === '' ? '' : `<${more}>`}(${told(node.children)})`;
		})
		.join('');
}
const read = (text: string) => told(parseMarkdown(text));

test('parses the Markdown that models write', () => {
	for (const [text, wanted] of [
		['Hello *there*, **you** and ***both***.', 'p(Hello em(there), strong(you) and strong(em(both)).)'],
		['snake_case_name and 2 * 3 * 4', 'p(snake_case_name and 2 * 3 * 4)'],
		['~~old~~ `a *b* c` ``x ` y``', 'p(del(old) code(a *b* c) code(x ` y))'],
		['\\*not\\* \\[1\\]', 'p(*not* [1])'],
		['One\nTwo\n\nThree', 'p(OnebrTwo)p(Three)'.replace('br', 'br()')],
		['# A\n### B #', 'h3(A)h4(B)'],
		['## About C#\n# #', 'h3(About C#)h3()'],
		['- a\n- b\n  - c\n  - d\n- e', 'ul(li(a)li(bul(li(c)li(d)))li(e))'],
		['3. a\n4. b\n\ntext', 'ol<3>(li(a)li(b))p(text)'],
		['- a\n\n  more\n- b', 'ul(li(ap(more))li(b))'],
		['1. a\n   - b\n2. c', 'ol<1>(li(aul(li(b)))li(c))'],
		['> a\n> b\n\nc', 'blockquote(p(abr()b))p(c)'],
		['```js\nlet x = "<b>";\n```\nafter', 'pre(let x = "<b>";)p(after)'],
		['```\nnot closed yet', 'pre(not closed yet)'],
		['---', 'hr()'],
		['| a | b |\n|---|:-:|\n| 1 | **2** |', 'table(tr(th(a)th(b))tr(td(1)td(strong(2))))'],
		['a | b\n--|--\n`x` \\| y | 2', 'table(tr(th(a)th(b))tr(td(code(x) | y)td(2)))'],
		['[the manual](https://shop.example/a_(b) "Title")', 'p(a<https://shop.example/a_(b)>(the manual))'],
		[
			'See https://shop.example/a?b=1, or (https://x.example/y).',
			'p(See a<https://shop.example/a?b=1>(https://shop.example/a?b=1), or (a<https://x.example/y>(https://x.example/y)).)',
		],
		[
			'<mailto:a@b.example> [mail](mailto:a@b.example)',
			'p(a<mailto:a@b.example>(a@b.example) a<mailto:a@b.example>(mail))',
		],
		['![A cat](https://x.example/cat.png)', 'p(a<https://x.example/cat.png>(A cat))'],
		[
			'See https://x.example/Foo_(bar) (or https://x.example/b_(c)).',
			'p(See a<https://x.example/Foo_(bar)>(https://x.example/Foo_(bar)) (or a<https://x.example/b_(c)>(https://x.example/b_(c))).)',
		],
		['https://x.example/aをご覧ください', 'p(a<https://x.example/a>(https://x.example/a)をご覧ください)'],
		['https://x.example/a。次', 'p(a<https://x.example/a>(https://x.example/a)。次)'],
		['Prices:\n| a | b |\n|---|---|\n| 1 | 2 |', 'p(Prices:)table(tr(th(a)th(b))tr(td(1)td(2)))'],
		['```\nall:\n\tgo\tnow\n```\n\n-\ta\n\t- b', 'pre(all:⏎\tgo\tnow)ul(li(aul(li(b))))'],
		['45 days [1, 2].', 'p(45 days cite<1>([1)cite<2>(, 2]).)'],
		['45 days [1][2].', 'p(45 days cite<1>([1])cite<2>([2]).)'],
		['**bold', 'p(**bold)'],
		['[half](https://shop', 'p([half](a<https://shop/>(https://shop))'],
		['', ''],
	] as const) {
		assert.equal(read(text), wanted, text);
	}
});

test('plain text has no marks and references', () => {
	assert.equal(plainText(parseMarkdown('**Three** years [1].\n\n- a\n- b')).trim(), 'Three years .\na\nb'.trim());
});

test('no text makes an unknown element or an unsafe link', () => {
	const tags = new Set('p h3 h4 ul ol li pre blockquote table tr th td hr br strong em del code a cite'.split(' '));
	const check = (nodes: readonly MarkdownNode[]) => {
		for (const node of nodes) {
			if (typeof node === 'string') continue;
			assert.ok(tags.has(node.tag));
			if (node.tag === 'a') assert.match(node.href ?? '', /^(https?:\/\/|mailto:)/);
			assert.deepEqual(
				Object.keys(node).filter((key) => !['tag', 'children', 'href', 'number'].includes(key)),
				[],
			);
			check(node.children);
		}
	};
	for (const text of HOSTILE) {
		check(parseMarkdown(text));
		for (let length = 0; length < text.length; length += 3) check(parseMarkdown(text.slice(0, length)));
	}
	const marks = fc.constantFrom(
		...'*_`~[]()!<>#-+|\\\n 1.a:/"'.split(''),
		'https://',
		'javascript:',
		'```',
		'\n\n',
		'    ',
	);
	fc.assert(fc.property(fc.array(marks, { maxLength: 60 }), (parts) => check(parseMarkdown(parts.join('')))));
});

test('parses a link without a text whose address has a bracket', () => {
	assert.equal(read('[](mailto:a[b) c'), 'p(a<mailto:a[b>(mailto:a[b) c)');
});

test('parsing time is linear in the length of any text', () => {
	const seconds = (text: string) => {
		const started = performance.now();
		parseMarkdown(text);
		return (performance.now() - started) / 1000;
	};
	for (const part of [
		'*a ',
		'**a',
		'`',
		'``a`',
		'[',
		'[a](',
		'![',
		'> ',
		'- a\n',
		'_a',
		'~~',
		'|',
		'<https://',
		'https://a',
		'((',
		'***a**',
		'  \n',
		'\\',
		'[a](b "',
		'# ',
		'1. ',
	]) {
		assert.ok(seconds(part.repeat(32_000 / part.length)) < 3, part);
	}
});

test('long lines are parsed in linear time, whatever they start and end with', () => {
	const begins = [
		'',
		'# a',
		'#',
		'-',
		'---',
		'- - -',
		'***',
		'|-',
		'a|b\n-',
		'a|b\n|-|',
		'> ',
		'1.',
		'```\n```',
		'~~~',
		'```',
	];
	const spans = [
		'[a](',
		'[a](b',
		'[a](b "',
		'[',
		'![',
		'<https://',
		'https://a',
		'*',
		'**a',
		'_',
		'~~',
		'`',
		'` a',
		'\\',
		'[1,',
	];
	for (const begin of [...begins, ...spans]) {
		for (const run of [
			' ',
			'\t',
			'#',
			'-',
			'`',
			'*',
			'.',
			')',
			'a',
			'|',
			' -',
			'- ',
			'| ',
			'|-',
			'(',
			' "',
			'\u00a0',
		]) {
			for (const end of ['', 'x', '`x', ')', '\nx']) {
				const started = performance.now();
				parseMarkdown(begin + run.repeat(40_000) + end);
				const ms = performance.now() - started;
				// Time that grew with the square of the length would be seconds, and with its cube hours.
				assert.ok(ms < 1_500, `${JSON.stringify([begin, run, end])}: ${ms} ms`);
			}
		}
	}
});

test('allows URLs of http, https and mailto only', () => {
	assert.equal(safeUrl(' https://Shop.example/a b '), 'https://shop.example/a%20b');
	assert.equal(safeUrl('mailto:a@b.example'), 'mailto:a@b.example');
	for (const url of [
		'javascript:alert(1)',
		'java\nscript:alert(1)',
		'\u0001javascript:alert(1)',
		'data:text/html,x',
		'//x.example',
		'/a',
		'ftp://x',
		'blob:https://x.example/1',
	]) {
		assert.equal(safeUrl(url), null, url);
	}
});
