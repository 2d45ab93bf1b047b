import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { READ_PASSAGES } from '../../bench/answers/training/local-assistant.ts';
import { LocalBase } from '../../bench/answers/training/local-base.ts';
import { citedIndexes } from '../../src/models/index.ts';
import { ask } from './fixtures/ask.ts';

const collections = new URL('../../../shared/data/ir/', import.meta.url);
const skip = existsSync(collections) ? false : 'the shared retrieval collections are not here';

/** Every fifth question is enough to notice a regression. */
const EVERY = 5;

let base: LocalBase;
before(async () => {
	if (skip) return;
	const documents = lines<{ id: string; title: string; text: string }>('covidfaq/docs.jsonl');
	base = await LocalBase.create(documents.map(({ id, title, text }) => ({ key: id, title, content: text || title })));
});
after(() => base?.[Symbol.asyncDispose]());

test('answers most questions of real visitors from a relevant document', { skip }, async () => {
	const relevant = relevantDocuments('covidfaq/qrels.tsv');
	const questions = lines<{ id: string; text: string }>('covidfaq/queries.jsonl').filter((_, i) => i % EVERY === 0);
	let answered = 0;
	let right = 0;
	for (const { id, text } of questions) {
		const request = await base.request(text, [], READ_PASSAGES);
		const isRelevant = (document: string | undefined) => relevant.has(`${id} ${document}`);
		const cited = citedIndexes(await ask(text, request.passages, request), request.passages);
		if (cited.length > 0) answered++;
		if (cited.some((index) => isRelevant(request.passages[index - 1]?.document_id))) right++;
	}
	assert.ok(answered >= questions.length * 0.85, `answered ${answered} of ${questions.length}`);
	// The search finds a relevant document among the first five for three of four questions.
	assert.ok(right >= questions.length * 0.41, `right ${right} of ${questions.length}`);
});

test('does not answer questions about something else from documents that share words by chance', {
	skip,
}, async () => {
	const strangers = ['cranfield', 'cacm'].flatMap((name) => lines<{ text: string }>(`${name}/queries.jsonl`));
	let answered = 0;
	for (const { text } of strangers) {
		const request = await base.request(text, [], READ_PASSAGES);
		if (citedIndexes(await ask(text, request.passages, request), request.passages).length > 0) answered++;
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
