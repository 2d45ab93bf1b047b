export { type EmbeddingDependencies, embedGeneration } from './embed-generation.ts';
export { ModelIdentity } from './model-identity.ts';
export {
	EmbeddingFailure,
	embedderFor,
	isSuperseded,
	keepPrepared,
	type PreparedVectors,
	prepareVectors,
} from './prepare-vectors.ts';
export { QuestionVectors } from './question-vectors.ts';
export { UnsavedVectors } from './unsaved-vectors.ts';
