import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alignColumns } from '../../src/commands/command.ts';
import { terminalLines, terminalText } from '../../src/commands/index.ts';

test('escapes characters that a terminal interprets, once', () => {
	const text = 'a\u001b[31mb\u0000\t\n\u007f\u009b\u202ec\u2066\ud83d';
	const shown = 'a\\u001b[31mb\\u0000\\u0009\\u000a\\u007f\\u009b\\u202ec\\u2066\\ud83d';
	assert.equal(terminalText(text), shown);
	assert.equal(terminalText(shown), shown);
});

test('keeps names in any script unchanged', () => {
	for (const text of ['Grüße', 'مرحبا', '世界', '👩‍👩‍👧', 'می‌خواهم', 'back\\slash'])
		assert.equal(terminalText(text), text);
});

test('keeps lines and aligned columns', () => {
	assert.equal(terminalLines('one\u0007\ntwo'), 'one\\u0007\ntwo');
	assert.deepEqual(
		alignColumns([
			['a\u0000', 'x'],
			['b', 'y'],
		]),
		['a\\u0000  x', 'b        y'],
	);
});
