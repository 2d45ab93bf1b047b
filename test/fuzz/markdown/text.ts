import fc from 'fast-check';
import { HOSTILE } from '../../browser/hostile-texts.ts';

const SCRIPT = 'window.hacked=(window.hacked||0)+1';
const FOREIGN = 'http://evil.parley.invalid';

const SCHEMES = [
	...[
		'javascript:',
		'JaVaScRiPt:',
		'java\tscript:',
		'java\nscript:',
		'\x01javascript:',
		'javascript&colon;',
		'jav&#x09;ascript:',
		'vbscript:',
	],
	...[
		'data:text/html,',
		'blob:',
		'file://',
		'view-source:',
		'feed:javascript:',
		'https://',
		'http://',
		'HTTPS:',
		'//',
		'mailto:',
		'tel:',
		'x:',
	],
	...[
		'https:javascript:',
		'mailto:javascript:',
		'https://a@',
		'https://[::1',
		'http:\\\\',
		'\u200bjavascript:',
		'ｊavascript:',
	],
];
const address = fc
	.tuple(
		fc.constantFrom(...SCHEMES),
		fc.constantFrom(SCRIPT, 'a.example/', `${FOREIGN}/x`, '"onclick="', "'", '(a)', '', '%0a', '<b>', ' '),
	)
	.map((parts) => parts.join(''));

const NAMES = [
	'script',
	'img',
	'svg',
	'iframe',
	'a',
	'style',
	'math',
	'object',
	'form',
	'input',
	'details',
	'template',
	'base',
	'meta',
	'x-y',
];
const ATTRIBUTES = [
	...[
		`onerror="${SCRIPT}"`,
		`onload=${SCRIPT}`,
		`onfocus=${SCRIPT} autofocus tabindex=0`,
		`ontoggle=${SCRIPT} open`,
		`onbegin=${SCRIPT}`,
	],
	...[
		'src=x',
		`src="${FOREIGN}/a.png"`,
		`href="javascript:${SCRIPT}"`,
		`srcdoc="<script>${SCRIPT}</script>"`,
		`style="background:url(${FOREIGN})"`,
	],
	...[
		`http-equiv=refresh content="0;url=${FOREIGN}"`,
		`action=${FOREIGN}`,
		'id=x name=y',
		`xlink:href=${FOREIGN}`,
		`formaction=${FOREIGN}`,
	],
];
const html = fc
	.tuple(
		fc.constantFrom('<', '</', '<!--<', '<\0', '&lt;', '<<', '<![CDATA[<'),
		fc.constantFrom(...NAMES),
		fc.array(fc.constantFrom(...ATTRIBUTES), { maxLength: 3 }),
		fc.constantFrom('>', '/>', '', '-->', ']]>'),
	)
	.map(
		([begin, name, attributes, end]) =>
			`${begin}${[name, ...attributes].join('/')}${end}${name === 'script' ? SCRIPT : ''}`,
	);

const WORDS = [
	'a',
	'word',
	'C#',
	'日本',
	'👩‍👩‍👧',
	'\u202e',
	'\u2028',
	'\0',
	'\ud800',
	' ',
	'  ',
	'\t',
	'1',
	'[1]',
	'[1, 2]',
	'[999]',
	'[0]',
	'snake_case_name',
];
const MARKS = [
	...[
		'*',
		'**',
		'***',
		'_',
		'__',
		'___',
		'~~',
		'`',
		'``',
		'```',
		'~~~',
		'\\',
		'|',
		'[',
		'](',
		']',
		'![',
		'(',
		')',
		'<',
		'>',
		'"',
		"'",
		'!',
		'&',
		'.',
	],
];
const STARTS = [
	'\n',
	'\n\n',
	'\r\n',
	'\n# ',
	'\n### ',
	'\n- ',
	'\n  - ',
	'\n1. ',
	'\n9999. ',
	'\n> ',
	'\n> > ',
	'\n```\n',
	'\n~~~js\n',
	'\n---\n',
	'\n|a|b|\n|-|:-:|\n|',
	'\n    ',
	'\n\t',
];

const { link } = fc.letrec((tie) => ({
	link: fc.oneof(
		address.map((to) => `<${to}>`),
		address,
		fc
			.tuple(fc.constantFrom('[', '!['), tie('label'), address, fc.constantFrom('', ' "t"', " 't' onclick='x'"))
			.map(([mark, label, to, title]) => `${mark}${label}](${to}${title})`),
		fc.tuple(tie('label'), address).map(([label, to]) => `[${label}][x]\n\n[x]: ${to}\n`),
	) as fc.Arbitrary<string>,
	label: fc.oneof(
		{ maxDepth: 3 },
		fc.constantFrom(...WORDS),
		fc.constantFrom(...MARKS),
		html,
		tie('link') as fc.Arbitrary<string>,
	),
}));

const piece = fc.oneof(
	{ weight: 4, arbitrary: fc.constantFrom(...WORDS) },
	{ weight: 5, arbitrary: fc.constantFrom(...MARKS) },
	{ weight: 4, arbitrary: fc.constantFrom(...STARTS) },
	{ weight: 2, arbitrary: link },
	{ weight: 2, arbitrary: html },
	{ weight: 1, arbitrary: fc.constantFrom(...HOSTILE) },
	{ weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
);

/** Text of pieces of Markdown and HTML, sometimes with one of them very often. */
export const markdownText: fc.Arbitrary<string> = fc.oneof(
	{ weight: 9, arbitrary: fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')) },
	{
		weight: 1,
		arbitrary: fc
			.tuple(
				fc.array(piece, { maxLength: 3 }),
				fc.array(piece, { minLength: 1, maxLength: 3 }),
				fc.integer({ min: 10, max: 2_000 }),
			)
			.map(([before, often, times]) => before.join('') + often.join('').repeat(times).slice(0, 40_000)),
	},
);
