import assert from 'node:assert/strict';
import test from 'node:test';
import { markedPassage } from '../../src/dashboard/pages/knowledge/document/cited-passage.ts';

const DOCUMENT = 'doc_1';

function loaded(texts: readonly string[], isWhole = true) {
	const passages = texts.map((text, position) => ({
		chunk: { id: `${DOCUMENT}.${position}`, document_id: DOCUMENT, position, text, heading_path: [], page: null },
		ownText: text,
		words: 1,
	}));
	return { passages, isWhole, error: null };
}

const cited = (position: number, text: string) => ({
	...{ index: 1, document_id: DOCUMENT, title: 'Warranty', url: null, page: null, text, score: 0.5 },
	...{ knowledge_base_id: 'kb_1', chunk_id: `${DOCUMENT}.${position}` },
});

test('marks the passage of a link, whatever was opened before', () => {
	assert.deepEqual(markedPassage(loaded(['a', 'b']), DOCUMENT, 1, null), { position: 1, isCitedTextGone: false });
	assert.deepEqual(markedPassage(loaded(['a', 'b']), DOCUMENT, 1, cited(0, 'a')), {
		position: 1,
		isCitedTextGone: false,
	});
	assert.deepEqual(markedPassage(loaded(['a']), DOCUMENT, null, cited(0, 'a')), {
		position: null,
		isCitedTextGone: false,
	});
});

test('marks the cited passage at its place, also where another one has the same text', () => {
	const marked = markedPassage(loaded(['a', 'b', 'a']), DOCUMENT, 2, cited(2, 'a'));
	assert.deepEqual(marked, { position: 2, isCitedTextGone: false });
});

test('follows a cited passage to another place, and says where the document no longer has it', () => {
	const moved = markedPassage(loaded(['new', 'a', 'b']), DOCUMENT, 0, cited(0, 'a'));
	assert.deepEqual(moved, { position: 1, isCitedTextGone: false });
	const gone = markedPassage(loaded(['new', 'b']), DOCUMENT, 0, cited(0, 'a'));
	assert.deepEqual(gone, { position: null, isCitedTextGone: true });
	// The passages that have not arrived yet may have it.
	const loading = markedPassage(loaded(['new', 'b'], false), DOCUMENT, 0, cited(0, 'a'));
	assert.deepEqual(loading, { position: null, isCitedTextGone: false });
});
