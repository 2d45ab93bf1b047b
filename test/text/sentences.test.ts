import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentences } from '../../src/text/index.ts';
import { cpuMilliseconds } from '../support/cpu-time.ts';

const texts = (text: string, language: string | null) => sentences(text, language).map((sentence) => sentence.text);

test('dots of abbreviations, initials, numbers and decimals do not end a sentence', () => {
	for (const sentence of [
		'Dr. Smith and Mrs. Jones came, e.g. on Monday, at 9.30 a.m. sharp.',
		'See No. 5 on p. 12 (cf. Fig. 3) for the rate of 3.5 percent.',
		'J. R. R. Tolkien wrote it.',
		'The U.S. Army moved on.',
		'It costs approx. 5 euros, i.e. little.',
		'Visit www.example.com or example.org today.',
	]) {
		assert.deepEqual(texts(sentence, 'en'), [sentence]);
		assert.deepEqual(texts(`${sentence} Then we left.`, 'en'), [sentence, 'Then we left.']);
	}
});

test('German ordinals and abbreviations do not end a sentence, a year does', () => {
	const ordinal = 'Am 3. Oktober erschien die 2. Auflage, z. B. in Bonn, d.h. bei Dr. Meier.';
	assert.deepEqual(texts(`${ordinal} Das war 1990. Dann kam mehr.`, 'de'), [
		ordinal,
		'Das war 1990.',
		'Dann kam mehr.',
	]);
});

test('a short word or an initial can end a sentence', () => {
	assert.deepEqual(texts('Is it so? Yes! It is. He took plan B. The end came.', 'en'), [
		'Is it so?',
		'Yes!',
		'It is.',
		'He took plan B.',
		'The end came.',
	]);
});

test('the number of a list item stays with the item', () => {
	assert.deepEqual(texts('1. Open the lid. 2. Press the button.\na) Wait.', 'en'), [
		'1. Open the lid.',
		'2. Press the button.',
		'a) Wait.',
	]);
});

test('separates Japanese, Chinese and Hindi sentences without spaces or dots', () => {
	assert.deepEqual(texts('今日は。元気?はい。', 'ja'), ['今日は。', '元気?', 'はい。']);
	assert.deepEqual(texts('你好。再见！', null), ['你好。', '再见！']);
	assert.deepEqual(texts('यह एक है। वह दो है।', 'hi'), ['यह एक है।', 'वह दो है।']);
});

test('a line ends a sentence, and white space belongs to none', () => {
	assert.deepEqual(texts('  Heading\n\n First line\r\nsecond line.  \n', 'en'), [
		'Heading',
		'First line',
		'second line.',
	]);
	assert.deepEqual(texts('', 'en'), []);
	assert.deepEqual(texts(' \n ', null), []);
});

test('offsets point at the sentence in the text', () => {
	const text = '  One. Two 😀 three!\n\tFour… ';
	for (const { text: sentence, start, end } of sentences(text, 'en')) assert.equal(text.slice(start, end), sentence);
	assert.equal(sentences(text, 'en').length, 3);
});

test('loses nothing of a long text and cuts no sentence', () => {
	const sentence = 'The quick brown fox, e.g. this one, jumps over the lazy dog again and again.';
	const text = Array.from({ length: 2000 }, () => sentence).join(' ');
	const found = texts(text, 'en');
	assert.equal(found.length, 2000);
	assert.ok(found.every((one) => one === sentence));
});

test('megabytes of text without a sentence end take no more processor time than others', async () => {
	for (const text of ['天'.repeat(500_000), `${'x'.repeat(500_000)}. y`, '. '.repeat(200_000), '😀.'.repeat(100_000)]) {
		let found: ReturnType<typeof sentences> = [];
		const spent = await cpuMilliseconds(() => {
			found = sentences(text, 'en');
		});
		assert.ok(spent < 5_000, `${text.slice(0, 4)}… took ${spent} ms`);
		assert.equal(
			found
				.map((one) => one.text)
				.join('')
				.replace(/\s/g, ''),
			text.replace(/\s/g, ''),
		);
	}
});
