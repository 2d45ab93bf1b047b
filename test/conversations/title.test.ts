import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { titleOf, titleOfReply } from '../../src/conversations/title.ts';

test('a title is the first line that says something', () => {
	for (const [content, title] of [
		['How long does shipping take?', 'How long does shipping take?'],
		['\n\n  Hello   there \nand more', 'Hello there'],
		['???\n— — —\nWhere is my parcel 4711?', 'Where is my parcel 4711?'],
		['配送にはどのくらいかかりますか', '配送にはどのくらいかかりますか'],
		['tab\there', 'tab here'],
	] as const) {
		assert.equal(titleOf(content), title);
	}
	for (const nothing of ['', '   ', '?!', '👋']) assert.equal(titleOf(nothing), null);
});

test('a long line is cut between words, and an endless word anywhere', () => {
	const words = titleOf('word '.repeat(100)) ?? '';
	assert.match(words, /^(word )+word…$/);
	assert.ok(words.length <= 80);
	assert.equal(titleOf('x'.repeat(1000)), `${'x'.repeat(79)}…`);
});

test('no text makes a title that is longer than 80 characters, or that holds half of one', () => {
	fc.assert(
		fc.property(fc.string({ unit: 'grapheme', maxLength: 600 }), (content) => {
			const title = titleOf(content);
			if (title === null) return;
			assert.ok([...new Intl.Segmenter().segment(title)].length <= 80);
			assert.equal(Buffer.from(title).toString(), title);
			assert.equal(title, title.trim());
		}),
	);
});

test('a reply gives a title without the marks of Markdown and citations', () => {
	for (const [reply, title] of [
		['**Hello!** How can I help you [1]?', 'Hello! How can I help you?'],
		['\n# Our `kettles` [2][3]\n\nThere are five.', 'Our kettles'],
		['- See [the shop](https://shop.example/a) first', 'See the shop first'],
		['---\n> ![A kettle](k.png)', 'A kettle'],
		['Snake_case and 2 * 3 [sic] stay', 'Snake_case and 2 * 3 [sic] stay'],
	] as const) {
		assert.equal(titleOfReply(reply), title);
	}
	assert.equal(titleOfReply('👋 [1]'), null);
	assert.equal(titleOfReply(`${' '.repeat(100_000)}[`.repeat(2)), null);
});
