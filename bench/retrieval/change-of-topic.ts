import { type Figure, once } from '../report/figure.ts';
import { pick, seeded } from '../search/random.ts';
import type { Collection } from './collections.ts';
import type { IndexedCollection } from './indexed-collection.ts';
import { evaluate, mean } from './measures.ts';

/** The collections whose questions are asked after others. */
export const CHANGE_OF_TOPIC_COLLECTIONS = ['covidfaq', 'cacm'];
/** How much nDCG@10 a change of topic may cost. */
export const MAX_COST = 0.006;
const EARLIER_QUESTIONS = 2;
const SEED = 7;

/** What nDCG@10 loses if two random other questions of the collection were asked before each question. */
export async function changeOfTopicFigure(
	indexed: IndexedCollection,
	{ name, questions }: Collection,
): Promise<Figure> {
	const random = seeded(SEED);
	const losses: number[] = [];
	let changed = 0;
	for (const question of questions) {
		const others = questions.filter((other) => other !== question);
		const earlier = Array.from({ length: EARLIER_QUESTIONS }, () => ({
			role: 'user' as const,
			content: pick(others, random).text,
		}));
		const quality = async (before?: typeof earlier) => {
			const { hits } = await indexed.search(question.text, 'hybrid', before);
			const ranking = hits.map((hit) => hit.document_id);
			return evaluate(ranking, question.relevant).ndcg;
		};
		const loss = (await quality()) - (await quality(earlier));
		losses.push(loss);
		if (loss !== 0) changed++;
	}
	return {
		name: `${name}: nDCG@10 lost by a change of topic`,
		unit: '',
		value: once(mean(losses)),
		goal: { is: 'at most', bound: MAX_COST },
		remark: `${questions.length} questions after ${EARLIER_QUESTIONS} others, ${changed} with another result`,
	};
}
