import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTranscript } from '../../src/widget/chat/transcript.ts';

test('unsent messages stay in the order in which they were written', () => {
	const transcript = createTranscript();
	const words = ['One', 'Two', 'Three', 'Four', 'Five', 'Six'];
	for (const [index, content] of words.entries()) {
		transcript.send({ key: String(9 - index), content });
		transcript.change(String(9 - index), { status: 'unsent' });
	}
	assert.deepEqual(
		transcript.list().map(({ content }) => content),
		words,
	);
	// Tried again, it keeps its place.
	transcript.send({ key: '8', content: 'Two' });
	assert.equal(transcript.list()[1]?.status, 'sending');
});
