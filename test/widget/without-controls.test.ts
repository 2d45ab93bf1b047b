import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MULTILINE } from '../../src/contract/patterns.ts';
import { withoutControls } from '../../src/widget/transport/without-controls.ts';

test('drops pasted control characters, keeps tabs and line breaks, and makes line breaks of page breaks', () => {
	const pasted = '\u0000Say\f\u001b[1m:\r\n\tHello\u009b!\u2028\n';
	assert.equal(withoutControls(pasted), 'Say\n[1m:\r\n\tHello!\u2028\n');
	assert.match(withoutControls(pasted), new RegExp(MULTILINE, 'u'));
});
