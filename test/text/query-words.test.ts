import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queryWords } from '../../src/text/index.ts';

const forms = (text: string, languages: Array<string | null>) => queryWords(text, languages).map((word) => word.stems);

test('a word has one form in each language of the documents, without repeats', () => {
	assert.deepEqual(forms('computers', ['en', 'it']), [['comput', 'computers']]);
	assert.deepEqual(forms('refund', ['en', 'de']), [['refund']]);
});

test('stop words are those of the language of the question, not of the documents', () => {
	// `die` is an article in German and a verb in English.
	assert.deepEqual(forms('will the batteries die', ['de', 'en']).length, 2);
	assert.deepEqual(forms('wo ist die Batterie', ['en', 'de']).length, 2);
});

test('searches documents of unknown language by the word itself and by its stem in the language of the question', () => {
	assert.deepEqual(forms('what are the refunds', [null]), [['what'], ['refunds', 'refund']]);
});

test('marks interrogatives', () => {
	assert.deepEqual(
		queryWords('how do refunds work', ['en']).map(({ isInterrogative }) => isInterrogative),
		[true, false, false],
	);
});
