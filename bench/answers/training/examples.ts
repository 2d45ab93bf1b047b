import type { ExtractiveRequest } from '../../../src/extractive/index.ts';
import {
	comparedCandidates,
	EVIDENCE_FEATURES,
	evidenceFeatures,
	mostFrequent,
	passageLanguages,
	RANKING_FEATURES,
	rankCandidates,
	readPassage,
	readQuestion,
	render,
	selectParts,
} from '../../../src/extractive/training/index.ts';
import { type Expectation, judge } from '../judge.ts';
import { dot } from './linear-algebra.ts';

/** A question with the parts that may answer it. */
export interface QuestionExample {
	/** Examples of one group are never fitted and judged together. */
	group: string;
	/** How it was made: `asked` by people, `generated`, or the kind of a question without an answer. */
	kind: string;
	/** Whether its documents answer it. */
	isAnswerable: boolean;
	/** By candidate: what orders it, the evidence that it answers, and whether the answer that begins with it is right. */
	ranking: number[][];
	answer: number[][];
	isRight: boolean[];
}

/** A question with what the search found for it, and what a right answer has. */
export interface TrainingQuestion extends Pick<QuestionExample, 'group' | 'kind' | 'isAnswerable'> {
	request: ExtractiveRequest;
	/** The values that a right answer has and has not, or the documents of which one must be its source. */
	expected: Pick<Expectation, 'required' | 'forbidden'> | { relevant: readonly string[] };
}

/** Ranks the parts that may answer, and judges the answer that begins with each of them. */
export function exampleOf({ group, kind, isAnswerable, request, expected }: TrainingQuestion): QuestionExample {
	const languages = passageLanguages(request.passages);
	const sources = request.passages.map((passage, at) => ({
		passage,
		reading: finish(readPassage(passage, languages[at] ?? null)),
	}));
	const question = readQuestion(request, mostFrequent(languages));
	const compared = comparedCandidates(finish(rankCandidates(question, sources)));
	const candidates = compared.map(({ candidate }) => candidate);
	return {
		group,
		kind,
		isAnswerable,
		ranking: compared.map(({ features }) => RANKING_FEATURES.map((name) => features[name])),
		answer: candidates.map((candidate) => {
			const features = evidenceFeatures(candidate, candidates, request.confidence);
			return EVIDENCE_FEATURES.map((name) => features[name]);
		}),
		isRight: candidates.map((candidate) => {
			if (!isAnswerable) return false;
			if ('relevant' in expected) return expected.relevant.includes(candidate.source.passage.document_id);
			const others = candidates.filter((other) => other !== candidate);
			const content = render(selectParts([candidate, ...others], question));
			return judge({ content, isCited: true }, { answerable: true, ...expected }).outcome === 'right';
		}),
	};
}

/** The positions of the candidates, best first. */
export function orderOf({ ranking }: Pick<QuestionExample, 'ranking'>, weights: readonly number[]): number[] {
	const utilities = ranking.map((features) => dot(weights, features));
	return ranking.map((_, at) => at).sort((a, b) => (utilities[b] as number) - (utilities[a] as number) || a - b);
}

/** Runs a generator to its end. */
export function finish<T>(steps: Generator<void, T>): T {
	let step = steps.next();
	while (!step.done) step = steps.next();
	return step.value;
}
