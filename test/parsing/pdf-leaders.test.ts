import assert from 'node:assert/strict';
import { test } from 'node:test';
import { removeLeaders } from '../../src/parsing/pdf-leaders.ts';
import type { Line } from '../../src/parsing/pdf-lines.ts';

const lineOf = (text: string): Line => ({
	text,
	page: 1,
	left: 50,
	right: 550,
	baseline: 700,
	size: 10,
	isUpright: true,
	font: null,
	pieces: [{ text, left: 50, right: 550 }],
});

/** The texts of the pieces of a line without its leader. */
function piecesOf(text: string): string[] {
	const line = lineOf(text);
	removeLeaders([line]);
	return line.pieces.map((piece) => piece.text);
}

test('a leader separates a name from its value, also behind an abbreviation', () => {
	assert.deepEqual(piecesOf('Tea........2.50'), ['Tea', '2.50']);
	assert.deepEqual(piecesOf('Cups, lids etc. ........ 14'), ['Cups, lids etc.', '14']);
	assert.deepEqual(piecesOf('Coffee . . . . . . 3.10'), ['Coffee', '3.10']);
	assert.deepEqual(piecesOf('Milk …………'), ['Milk']);
	assert.deepEqual(piecesOf('Name ______ Anna'), ['Name', 'Anna']);
	assert.deepEqual(piecesOf('Wait ... what'), ['Wait ... what']);
});

test('lines of many dots and letters are handled at once', () => {
	// If the time of a line grew by the third power of its length, this would take minutes.
	for (const sign of ['.', '. ', '…', ' …', '_', 'a....', '. . . .a ']) {
		const text = (sign.repeat(400).slice(0, 340) + 'a'.repeat(50)).trim();
		for (const start of ['', 'Tea ']) removeLeaders(Array.from({ length: 500 }, () => lineOf(start + text)));
	}
});
