import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { ToolConfig } from '../../src/tools/config.ts';
import { SecretRedactor } from '../../src/tools/secret-redactor.ts';

const withToken = (token: string) => {
	return new SecretRedactor({ headers: {}, auth: { type: 'bearer', token } } as unknown as ToolConfig);
};

const asJson = (text: string) => JSON.stringify(text).slice(1, -1);
const hex = (text: string) => text.codePointAt(0)?.toString(16).padStart(4, '0') ?? '';
const special = /[^a-z0-9]/gi;

/** How servers write a text that they were sent, by what writes it so. */
const ENCODINGS: Record<string, (text: string) => string> = {
	'as it is': (text) => text,
	JSON: asJson,
	'JSON of PHP': (text) => asJson(text).replaceAll('/', '\\/'),
	'JSON of Go': (text) => asJson(text).replace(/[<>&]/g, (found) => `\\u${hex(found)}`),
	'JSON of .NET': (text) => asJson(text).replace(/[+<>&'`\u0080-\uffff]/g, (found) => `\\u${hex(found).toUpperCase()}`),
	'JSON in ASCII': (text) => asJson(text).replace(/[\u0080-\uffff]/g, (found) => `\\u${hex(found)}`),
	'JSON, all escaped': (text) => text.replace(special, (found) => `\\u${hex(found)}`),
	URL: encodeURIComponent,
	'URL in lower case': (text) => encodeURIComponent(text).replace(/%../g, (found) => found.toLowerCase()),
	'URL, all escaped': (text) =>
		text.replace(special, (found) =>
			[...Buffer.from(found)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
		),
	form: (text) => new URLSearchParams({ a: text }).toString().slice(2),
	HTML: (text) =>
		text
			.replaceAll('&', '&amp;')
			.replaceAll('<', '&lt;')
			.replaceAll('>', '&gt;')
			.replaceAll('"', '&quot;')
			.replaceAll("'", '&#39;'),
	'HTML in numbers': (text) => text.replace(special, (found) => `&#${found.charCodeAt(0)};`),
	'HTML in hexadecimal': (text) => text.replace(special, (found) => `&#x${hex(found).toUpperCase()};`),
};
const SECRETS = [
	'ab/cd+EF0123456789/xyz==',
	'a&b<c>"d"=\'e\'',
	'p\\ss w:rd~`|{}',
	'100%25%2Fxyz',
	'pä:ß-ÿÿ',
	'////\\\\\\\\a',
];

test('redacts a secret in every encoding', () => {
	for (const secret of SECRETS) {
		const words = withToken(secret);
		for (const [name, encode] of Object.entries(ENCODINGS)) {
			const written = encode(secret);
			assert.equal(words.redact(`{"sent":"${written}", "x":1}`), '{"sent":"***", "x":1}', `${name}: ${written}`);
			assert.ok(written.length <= words.maxSecretLength, `${name}: ${written}`);
		}
	}
});

test('redacts a secret in nested encodings', () => {
	const names = ['JSON', 'JSON of PHP', 'JSON of .NET', 'URL', 'URL in lower case', 'HTML', 'HTML in hexadecimal'];
	for (const secret of SECRETS) {
		for (const first of names) {
			for (const second of names) {
				const written = ENCODINGS[second]?.(ENCODINGS[first]?.(secret) ?? '') ?? '';
				assert.equal(withToken(secret).redact(`<${written}>`), '<***>', `${first}, ${second}: ${written}`);
			}
		}
	}
});

test('any secret of any length is hidden in any of these forms, and what stands around it stays', () => {
	const characters = fc.constantFrom(...'ab01/+=&%\\"\'<> -_.~;#uxé'.split(''));
	const secret = fc.array(characters, { minLength: 8, maxLength: 60 }).map((found) => `k${found.join('')}z`);
	fc.assert(
		fc.property(secret, fc.constantFrom(...Object.values(ENCODINGS)), (word, encode) => {
			assert.equal(withToken(word).redact(`("${encode(word)}", "${encode(word)}")`), '("***", "***")');
		}),
		{ numRuns: 2_000 },
	);
});

test('leaves other text unchanged, to the last escape', () => {
	const words = withToken('ab/cd+EF');
	for (const text of [
		'',
		'a%20b&amp;c\\u0041 \\/ \\\\ % %2 %zz & &; &nope; \\',
		'ab/cd+E',
		'é😀\ud83d ab%2Fcd\u0000',
	]) {
		assert.equal(words.redact(text), text);
	}
	assert.equal(words.redact('é😀 ab%2fcd%2bEF 😀é'), 'é😀 *** 😀é');
	assert.equal(words.redact('x=ab\\/cd+EFab/cd+EF;y'), 'x=******;y');
});

test('neither the longest secrets nor answers made of escapes hold anybody up', { timeout: 60_000 }, () => {
	const hostile = [
		'%25'.repeat(22_000),
		'\\'.repeat(65_536),
		'&amp;'.repeat(13_000),
		'&#'.repeat(32_000),
		'/'.repeat(65_536),
	];
	for (const secret of [
		'/'.repeat(4_096),
		`${'\\'.repeat(4_092)}x-yz`,
		`${'%25'.repeat(1_300)}x`,
		`${'&amp;'.repeat(800)}x`,
	]) {
		const words = withToken(secret);
		for (const text of hostile) words.redact(text);
		assert.equal(words.redact(`(${encodeURIComponent(secret)})`).includes('***'), true);
	}
});
