import assert from 'node:assert/strict';
import { test } from 'node:test';

interface AllowedWord {
	file: string;
	text: string;
	reason: string;
}
interface WordCheck {
	bannedWordsIn(path: string, text: string, allowed?: AllowedWord[], unused?: Set<AllowedWord>): string[];
}

const load = async (name: string) => import(new URL(`../../scripts/${name}`, import.meta.url).href);
const { bannedWordsIn }: WordCheck = await load('check-words.mjs');
const { allowedWords }: { allowedWords: AllowedWord[] } = await load('allowed-words.mjs');

/** `line: word` of each hit. */
function hitsIn(path: string, ...lines: string[]): string[] {
	return bannedWordsIn(path, lines.join('\n')).map((hit) => hit.split(':').slice(1, 3).join(':'));
}

test('reports each banned word in a comment, in upper and lower case', () => {
	assert.deepEqual(
		hitsIn(
			'src/a.ts',
			'// Whoever asks is told what comes of it.',
			'/** Nobody reads it anew. */',
			'export const a = 1; // ours, so often',
			'/*',
			' * One that fails.',
			' */',
		),
		[
			'1: Whoever',
			'1: is told',
			'1: what comes of it',
			'2: Nobody',
			'2: anew',
			'3: ours',
			'3: so often',
			'5: One that',
		],
	);
});

test('finds a phrase that goes over the end of a comment line', () => {
	assert.deepEqual(hitsIn('src/a.ts', '// The caller is', '// told, and this is the one', '// that waits.'), [
		'1: is told',
		'2: one that',
	]);
	assert.deepEqual(hitsIn('src/a.ts', '/**', ' * The caller is', ' * told.', ' */'), ['2: is told']);
});

test('reports sentences of errors and log lines, and the text of elements', () => {
	assert.deepEqual(
		hitsIn(
			'src/a.tsx',
			"if (failed) throw new Error('Nobody is there.');",
			`log.warn({ id }, \`The call of \${id} is made anew\`);`,
			'export const note = <p title="One that counts">Read by nobody yet</p>;',
		),
		['1: Nobody', '2: anew', '3: One that', '3: nobody'],
	);
});

test('reports names of tests, and of strings in tests only those', () => {
	assert.deepEqual(
		hitsIn(
			'test/a.test.ts',
			"describe('nobody', () => {",
			"	test('whoever asks', async (t) => {",
			`		await t.test(\`anew \${1}\`, () => check('is told to nobody'));`,
			'	});',
			"	it.skip('is ours', () => {});",
			'});',
		),
		['1: nobody', '2: whoever', '3: anew', '5: ours'],
	);
});

test('reports prose of Markdown pages, and nothing in code there', () => {
	assert.deepEqual(
		hitsIn('docs/a.md', '# Anew', 'A page and `nobody`.', '```', 'echo nobody', '```', 'The operator is', 'told.'),
		['1: Anew', '6: is told'],
	);
});

test('takes names, single words as values, patterns and text that only looks like a comment as code', () => {
	assert.deepEqual(
		hitsIn(
			'src/a.ts',
			'const nobody = /ours/;',
			"const scope = 'nobody';",
			"const url = 'https://ours';",
			`const yours = \`//\${nobody}//\`;`,
		),
		[],
	);
});

test('reports comments of style sheets and of WebAssembly text, and nothing else there', () => {
	assert.deepEqual(
		hitsIn(
			'src/a.css',
			'/* Nobody reads',
			' * it anew. */',
			'.nobody { content: "/* ours */"; }',
			"a::after { content: '/*'; } /* ours */",
			'.ours {}',
		),
		['1: Nobody', '2: anew', '4: ours'],
	);
	assert.deepEqual(
		hitsIn(
			'src/a.wat',
			';; The caller is',
			';; told.',
			'(func (export "nobody;;ours") (param $nobody i32)) ;; ours',
			'(; made',
			'   anew ;)',
			'(local $ours i32)',
		),
		['1: is told', '3: ours', '5: anew'],
	);
});

test('an exception covers its own words only, not others on the line', () => {
	const allowed = [{ file: 'src/a.ts', text: 'as nobody', reason: 'The name of a user.' }];
	const text = '// Runs as nobody, and nobody else is told. It stays as nobody.';
	assert.deepEqual(
		bannedWordsIn('src/a.ts', text, allowed).map((hit) => hit.split(':')[2]),
		[' nobody', ' is told'],
	);
});

test('honours an exception in its file, where its text is on the line, and reports an exception without a hit as unused', () => {
	const allowed = [
		{ file: 'src/a.ts', text: 'nobody:nogroup', reason: 'The name of a user.' },
		{ file: 'src/a.ts', text: 'gone', reason: 'Left over.' },
	];
	const unused = new Set(allowed);
	const text = '// Runs as nobody:nogroup.\n// Nobody else.';
	assert.deepEqual(bannedWordsIn('src/a.ts', text, allowed, unused), ['src/a.ts:2: Nobody: // Nobody else.']);
	assert.deepEqual([...unused], [allowed[1]]);
	assert.equal(bannedWordsIn('src/b.ts', text, allowed).length, 2);
});

test('has a reason for each exception', () => {
	for (const { file, text, reason } of allowedWords) assert.match(reason, /^[A-Z].*\.$/, `${file}: ${text}`);
});
