export { embedGeneration } from './embed-generation.ts';
export { embedderFor, type PreparedVectors, prepareVectors } from './prepare-vectors.ts';
export { QuestionVectors } from './question-vectors.ts';
