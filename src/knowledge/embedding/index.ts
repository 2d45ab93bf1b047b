export { type EmbeddingDependencies, embedGeneration } from './embed-generation.ts';
export { KnownModels } from './known-models.ts';
export { PaidVectors } from './paid-vectors.ts';
export {
	EmbeddingFailure,
	embedderFor,
	isSuperseded,
	type PreparedVectors,
	prepareVectors,
} from './prepare-vectors.ts';
export { QuestionVectors } from './question-vectors.ts';
