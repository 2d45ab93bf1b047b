export type {
	ChatModel,
	ChatModelDescription,
	ChatProvider,
	ChatRequest,
	ChatTurn,
	ModelDelta,
	ModelEvent,
	ModelUsage,
	Passage,
} from './chat-model.ts';
export { citedIndexes } from './citations.ts';
export {
	createModels,
	DEFAULT_MODEL,
	type ModelListing,
	type Models,
	type ModelsOptions,
	type ResolvedModel,
} from './models.ts';
