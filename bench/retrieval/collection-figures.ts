import { type Figure, once } from '../report/figure.ts';
import { CHANGE_OF_TOPIC_COLLECTIONS, changeOfTopicFigure } from './change-of-topic.ts';
import type { Collection } from './collections.ts';
import { IndexedCollection, type Mode } from './indexed-collection.ts';
import { areaUnderCurve, evaluate, mean, type Quality } from './measures.ts';

/** At most this number of questions of another collection is asked. */
const MAX_FOREIGN_QUESTIONS = 100;
/** Goals for nDCG@10 of full text and vectors together. */
const GOALS: Record<string, number> = { covidfaq: 0.65, cranfield: 0.585, cacm: 0.5 };
const GOAL_OF_ANSWERABILITY = 0.97;

/**
 * Indexes each collection and measures the given kinds of search: nDCG@10, Recall@10, MRR@10, the time of the training,
 * what a change of topic costs, and how
 * well the confidence of the hybrid search separates a collection's questions from those of the others.
 */
export async function collectionFigures(collections: readonly Collection[], modes: readonly Mode[]): Promise<Figure[]> {
	const figures: Figure[] = [];
	/** Confidence for questions with an answer, and for questions without. */
	const own: number[] = [];
	const foreign: number[] = [];
	for (const collection of collections) {
		await using indexed = await IndexedCollection.index(collection);
		const { name, documents, questions } = collection;
		for (const mode of modes) {
			const { figure, confidences } = await qualityOf(indexed, collection, mode);
			figures.push(figure);
			if (mode === 'hybrid') own.push(...confidences);
		}
		if (CHANGE_OF_TOPIC_COLLECTIONS.includes(name)) figures.push(await changeOfTopicFigure(indexed, collection));
		const remark = `${documents.length} documents, ${questions.length} questions, semantic weight ${indexed.semanticWeight}`;
		figures.push({ name: `${name}: training`, unit: 'ms', value: once(indexed.trainMs), remark });
		for (const other of collections) {
			if (other === collection) continue;
			for (const { text } of other.questions.slice(0, MAX_FOREIGN_QUESTIONS)) {
				foreign.push((await indexed.search(text, 'hybrid')).confidence);
			}
		}
	}
	if (own.length > 0 && foreign.length > 0) {
		figures.push({
			name: 'answerability (AUC)',
			unit: '',
			value: once(areaUnderCurve(own, foreign)),
			goal: { is: 'at least', bound: GOAL_OF_ANSWERABILITY },
			remark: `${own.length} questions that have an answer, ${foreign.length} of other collections`,
		});
	}
	return figures;
}

async function qualityOf(
	indexed: IndexedCollection,
	{ name, questions }: Collection,
	mode: Mode,
): Promise<{ figure: Figure; confidences: number[] }> {
	const qualities: Quality[] = [];
	const confidences: number[] = [];
	for (const { text, relevant } of questions) {
		const { hits, confidence } = await indexed.search(text, mode);
		confidences.push(confidence);
		const ranking = hits.map((hit) => hit.document_id);
		qualities.push(evaluate(ranking, relevant));
	}
	const all = (measure: keyof Quality) => mean(qualities.map((quality) => quality[measure]));
	const bound = mode === 'hybrid' ? GOALS[name] : undefined;
	const figure: Figure = {
		name: `${name}, ${mode}: nDCG@10`,
		unit: '',
		value: once(all('ndcg')),
		...(bound === undefined ? {} : { goal: { is: 'at least', bound } }),
		remark: `Recall@10 ${all('recall').toFixed(3)}, MRR@10 ${all('mrr').toFixed(3)}`,
	};
	return { figure, confidences };
}
