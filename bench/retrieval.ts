/**
 * npm run bench -- retrieval [collection…]
 *
 * Measures search quality on test collections, with the real store and the search worker's own function: nDCG@10, Recall@10 and
 * MRR@10 of full text alone, vectors alone and both; the time to train the embedding; and how well the confidence separates a
 * collection's questions from those of the others. Each document is one chunk, title and text. The collections are in
 * ../shared/data/ir. Without them nothing is measured.
 */
import { parseArgs } from 'node:util';
import { type Figure, once } from './report/figure.ts';
import { Report } from './report/report.ts';
import { type Collection, readCollection } from './retrieval/collections.ts';
import { IndexedCollection, MODES, type Mode } from './retrieval/indexed-collection.ts';
import { areaUnderCurve, evaluate, mean, type Quality } from './retrieval/measures.ts';

const ALL_COLLECTIONS = ['covidfaq', 'cranfield', 'cacm'];
/** At most this number of questions of another collection is asked. */
const MAX_FOREIGN_QUESTIONS = 100;
/** Intended nDCG@10 of full text and vectors together. It is not a binding goal. */
const TARGET_NDCG: Record<string, number> = { covidfaq: 0.66, cranfield: 0.58, cacm: 0.5 };

const { positionals } = parseArgs({ allowPositionals: true });
const names = positionals.length > 0 ? positionals : ALL_COLLECTIONS;
const collections = names.map(readCollection).filter((collection) => collection !== undefined);
const report = new Report('retrieval');
if (collections.length < names.length) {
	console.log(`Some of the collections ${names.join(', ')} are not in ../shared/data/ir; they are left out.`);
}
/** Confidence for questions with an answer, and for questions without. */
const own: number[] = [];
const foreign: number[] = [];
for (const collection of collections) {
	await using indexed = await IndexedCollection.index(collection);
	report.add(...(await figures(indexed, collection)));
	for (const other of collections) {
		if (other === collection) continue;
		for (const { text } of other.questions.slice(0, MAX_FOREIGN_QUESTIONS)) {
			foreign.push((await indexed.search(text, 'hybrid')).confidence);
		}
	}
}
if (foreign.length > 0) {
	report.add({
		name: 'answerability (AUC)',
		unit: '',
		value: once(areaUnderCurve(own, foreign)),
		remark: `${own.length} questions that have an answer, ${foreign.length} of other collections`,
	});
}
await report.close();

async function figures(indexed: IndexedCollection, { name, documents, questions }: Collection): Promise<Figure[]> {
	const found: Figure[] = [];
	for (const mode of Object.keys(MODES) as Mode[]) {
		const qualities: Quality[] = [];
		for (const { text, relevant } of questions) {
			const { hits, confidence } = await indexed.search(text, mode);
			if (mode === 'hybrid') own.push(confidence);
			qualities.push(
				evaluate(
					hits.map((hit) => hit.document_id),
					relevant,
				),
			);
		}
		const aim = mode === 'hybrid' && TARGET_NDCG[name] !== undefined ? `; the aim is ${TARGET_NDCG[name]}` : '';
		const all = (measure: keyof Quality) => mean(qualities.map((quality) => quality[measure]));
		found.push({
			name: `${name}, ${mode}: nDCG@10`,
			unit: '',
			value: once(all('ndcg')),
			remark: `Recall@10 ${all('recall').toFixed(3)}, MRR@10 ${all('mrr').toFixed(3)}${aim}`,
		});
	}
	const remark = `${documents.length} documents, ${questions.length} questions`;
	return [...found, { name: `${name}: training`, unit: 'ms', value: once(indexed.trainMs), remark }];
}
