/**
 * npm run bench -- retrieval [collection…]
 *
 * Search quality on test collections, through the real store and the search worker's own function: nDCG@10, Recall@10 and
 * MRR@10 of full text alone, vectors alone and both; the time to train the embedding and to search; and how well
 * confidence tells a collection's questions from those of the others. Each document is one chunk, title and text.
 */
import { parseArgs } from 'node:util';
import { type Collection, readCollection } from './retrieval/collections.ts';
import { IndexedCollection, MODES, type Mode } from './retrieval/indexed-collection.ts';
import { areaUnderCurve, judge, mean, percentile, type Quality } from './retrieval/measures.ts';

const ALL = ['covidfaq', 'cranfield', 'cacm'];
/** As many questions of another collection as are asked at most. */
const FOREIGN_QUESTIONS = 300;

const { positionals } = parseArgs({ allowPositionals: true });
const names = positionals.length > 0 ? positionals : ALL;
const collections = names.map(readCollection).filter((collection) => collection !== undefined);
if (collections.length < names.length) {
	console.log(`Some of the collections ${names.join(', ')} are not in ../shared/data/ir; they are left out.`);
}

const own: number[] = [];
const foreign: number[] = [];
for (const collection of collections) {
	await using indexed = await IndexedCollection.index(collection);
	console.log(
		`\n${collection.name}: ${collection.documents.length} documents, ${collection.questions.length} questions, ` +
			`trained in ${Math.round(indexed.trainMs)} ms`,
	);
	for (const mode of Object.keys(MODES) as Mode[]) console.log(await line(indexed, collection, mode));
	await tellApart(indexed, collection);
}
if (foreign.length > 0) console.log(`\nAnswerability, all together: AUC ${areaUnderCurve(own, foreign).toFixed(3)}`);

async function line(indexed: IndexedCollection, { questions }: Collection, mode: Mode): Promise<string> {
	const judged: Quality[] = [];
	const times: number[] = [];
	for (const { text, relevant } of questions) {
		const started = performance.now();
		const { hits } = await indexed.search(text, mode);
		times.push(performance.now() - started);
		judged.push(
			judge(
				hits.map((hit) => hit.document_id),
				relevant,
			),
		);
	}
	const share = (name: keyof Quality) => mean(judged.map((quality) => quality[name])).toFixed(4);
	const ms = (at: number) => percentile(times, at).toFixed(1);
	return (
		`  ${mode.padEnd(9)} nDCG@10 ${share('ndcg')}  Recall@10 ${share('recall')}  MRR@10 ${share('mrr')}` +
		`  p50 ${ms(0.5)} ms  p95 ${ms(0.95)} ms`
	);
}

async function tellApart(indexed: IndexedCollection, collection: Collection): Promise<void> {
	const confidences = async (questions: Collection['questions']) => {
		const values: number[] = [];
		for (const { text } of questions) values.push((await indexed.search(text, 'hybrid')).confidence);
		return values;
	};
	const positives = await confidences(collection.questions);
	own.push(...positives);
	for (const other of collections) {
		if (other === collection) continue;
		const negatives = await confidences(other.questions.slice(0, FOREIGN_QUESTIONS));
		foreign.push(...negatives);
		const rejected = (1 - mean(negatives.map((value) => (value >= 0.2 ? 1 : 0)))).toFixed(2);
		console.log(
			`  against the questions of ${other.name}: AUC ${areaUnderCurve(positives, negatives).toFixed(3)}` +
				`  (below 0.2: ${rejected} of theirs, ${mean(positives.map((value) => (value < 0.2 ? 1 : 0))).toFixed(2)} of its own)`,
		);
	}
}
