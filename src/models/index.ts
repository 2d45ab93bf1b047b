export { isSmallTalk } from '../extractive/index.ts';
export type {
	ChatMessage,
	ChatModel,
	ChatModelDescription,
	ChatProvider,
	ChatRequest,
	CompletedRound,
	ModelDelta,
	ModelEvent,
	ModelToolCall,
	ModelUsage,
	Passage,
	ToolDefinition,
	ToolResult,
} from './chat-model.ts';
export { citedIndexes } from './citations.ts';
export {
	BUILTIN_EMBEDDER,
	builtinEmbedders,
	createEmbedders,
	type EmbeddedBatch,
	type Embedder,
	type Embedders,
	isProviderFailure,
	isRecoverable,
	probeEmbedder,
} from './embeddings/index.ts';
export {
	BUILTIN_MODEL,
	createModels,
	type ModelListing,
	type Models,
	type ModelsOptions,
	type ResolvedModel,
} from './models.ts';
export { costOf, type ModelPrice } from './price.ts';
export {
	type CircuitState,
	createProviders,
	type ProbeOutcome,
	type ProviderDependencies,
	type ProviderSettings,
	probeProvider,
	tokensOf,
} from './providers/index.ts';
export { supportedCitations } from './supported-citations.ts';
