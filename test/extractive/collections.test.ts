import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { citedIndexes } from '../../src/models/index.ts';
import { ask } from './fixtures/ask.ts';
import { keywordSearch, type TestDocument } from './fixtures/keyword-search.ts';

const collections = new URL('../../../shared/data/ir/', import.meta.url);
const skip = existsSync(collections) ? false : 'the shared retrieval collections are not here';

/** Every fifth question is enough to notice a regression. */
const EVERY = 5;

test('answers most questions of real visitors from a relevant document', { skip }, async () => {
	const search = keywordSearch(lines<TestDocument>('covidfaq/docs.jsonl'));
	const relevant = relevantDocuments('covidfaq/qrels.tsv');
	const questions = lines<{ id: string; text: string }>('covidfaq/queries.jsonl').filter((_, i) => i % EVERY === 0);
	let found = 0;
	let answered = 0;
	let right = 0;
	for (const { id, text } of questions) {
		const { passages, confidence } = search(text);
		const isRelevant = (index: number) => relevant.has(`${id} ${passages[index - 1]?.document_id}`);
		if (passages.some(({ index }) => isRelevant(index))) found++;
		const cited = citedIndexes(await ask(text, passages, { confidence }), passages);
		if (cited.length > 0) answered++;
		if (cited.some(isRelevant)) right++;
	}
	// Keyword search alone finds a relevant document for three of four questions, so no more answers can be right.
	assert.ok(answered >= questions.length * 0.85, `answered ${answered} of ${questions.length}`);
	assert.ok(right >= found * 0.6, `right ${right} of ${found} that could be`);
});

test('does not answer questions about something else from documents that share words by chance', {
	skip,
}, async () => {
	const search = keywordSearch(lines<TestDocument>('covidfaq/docs.jsonl'));
	const strangers = ['cranfield', 'cacm'].flatMap((name) => lines<{ text: string }>(`${name}/queries.jsonl`));
	let answered = 0;
	for (const { text } of strangers) {
		const { passages, confidence } = search(text);
		if (citedIndexes(await ask(text, passages, { confidence }), passages).length > 0) answered++;
	}
	assert.ok(answered <= strangers.length * 0.03, `answered ${answered} of ${strangers.length}`);
});

function lines<T>(path: string): T[] {
	const text = readFileSync(new URL(path, collections), 'utf8');
	return text
		.split('\n')
		.filter(Boolean)
		.map((line) => JSON.parse(line) as T);
}

/** `<question> <document>` pairs. */
function relevantDocuments(path: string): Set<string> {
	const rows = readFileSync(new URL(path, collections), 'utf8').split('\n').slice(1).filter(Boolean);
	return new Set(rows.map((row) => row.split('\t').slice(0, 2).join(' ')));
}
