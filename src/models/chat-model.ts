/** One retrieved piece of a document, as given to a model. */
export interface Passage {
	/** The source number that an answer cites, from 1. */
	index: number;
	document_id: string;
	title: string;
	url: string | null;
	/** The page on which it begins, from 1; null where the format has no pages. */
	page: number | null;
	/** The headings above it, outermost first. */
	heading_path: readonly string[];
	text: string;
	/** How well it matches the question, 0..1. */
	score: number;
}

/** An earlier message of the conversation. */
export interface ChatTurn {
	role: 'user' | 'assistant';
	content: string;
}

/** Everything that a model may use for one reply. Plain data: it survives a way between threads. */
export interface ChatRequest {
	/** The model's name within its provider: what follows the first slash of `provider/name`. */
	model: string;
	/** The assistant's master prompt; may be empty. */
	instructions: string;
	/** Earlier messages, oldest first, without the question. */
	history: readonly ChatTurn[];
	question: string;
	/** Best first; none where nothing was retrieved. */
	passages: readonly Passage[];
	/** How well the knowledge bases answer the question in absolute terms, 0..1; 0 where there are none. */
	confidence: number;
}

/** The next piece of the reply's text, never empty. */
export interface ModelDelta {
	type: 'delta';
	text: string;
}

/** What the reply cost, in the provider's own count; at most once. A model that counts no tokens does not report any. */
export interface ModelUsage {
	type: 'usage';
	input_tokens: number;
	output_tokens: number;
}

/** What a model yields while it answers. Consumers switch on `type`, so that kinds can be added. */
export type ModelEvent = ModelDelta | ModelUsage;

/** A model that answers in a conversation. */
export interface ChatModel {
	/**
	 * Writes one reply. The joined deltas are its text in Markdown, citing passages as `[1]`, `[2]`. Ends by throwing the
	 * signal's reason once it is aborted, and with an AppError `model_error` where the model fails.
	 */
	stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

/** A source of chat models: the part of a model's full name before the first slash. */
export interface ChatProvider {
	id: string;
	chat: ChatModel;
	/** The names that it serves; null where it takes any. */
	models: readonly ChatModelDescription[] | null;
}

/** A model by its name within the provider. */
export interface ChatModelDescription {
	name: string;
	/** One sentence for people. */
	description: string;
}
