// The parts of the answerer that the training of its weights and the benchmark use (bench/answers). The server does not use this file.
export { answerSteps, YIELD_AFTER_MS } from '../answer-steps.ts';
export { render } from '../composing/render.ts';
export { selectParts } from '../composing/select-parts.ts';
export {
	ANSWER_FEATURES,
	CHOICE_FEATURES,
	EVIDENCE_FEATURES,
	evidenceFeatures,
	RANKING_FEATURES,
} from '../matching/features.ts';
export { choiceFeatures, comparedCandidates } from '../matching/order-candidates.ts';
export { rankCandidates } from '../matching/rank.ts';
export { matchesAnswerType } from '../question/answer-forms.ts';
export type { AnswerType } from '../question/answer-type-cues.ts';
export { functionWords } from '../question/function-words.ts';
export { readQuestion } from '../question/question.ts';
export { synonymGroups } from '../question/synonyms.ts';
export { mostFrequent, passageLanguages } from '../reading/languages.ts';
export type { PassageReading } from '../reading/passage-reading.ts';
export { readPassage } from '../reading/read-passage.ts';
