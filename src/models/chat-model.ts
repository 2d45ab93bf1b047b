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
export interface ChatMessage {
	role: 'user' | 'assistant';
	content: string;
}

/** A tool as a model is told of it. */
export interface ToolDefinition {
	/** What the model calls it by: `^[a-zA-Z0-9_-]{1,64}$`. */
	name: string;
	description: string | null;
	/** JSON Schema of its arguments, which are an object. */
	parameters: object;
}

/** A call that a model has asked for, together with what came of it. */
export interface ToolResult {
	/** The call's id, as the model gave it. */
	id: string;
	name: string;
	/** As the model gave them: an object, or a text where it wrote what is not JSON. */
	arguments: unknown;
	/** What the model is told, at most 32 KiB. */
	result: string;
	is_error: boolean;
}

/** A round of this reply that has been carried out: what the model wrote, and the calls that it then asked for. */
export interface CompletedRound {
	text: string;
	calls: readonly ToolResult[];
	/** What the model gave as its memory of the round, unchanged; absent where it gave none. */
	memory?: unknown;
}

/** Everything that a model may use for one reply. Plain data: it survives a way between threads. */
export interface ChatRequest {
	/** The model's name within its provider: what follows the first slash of `provider/name`. */
	model: string;
	/** The assistant's master prompt; may be empty. */
	instructions: string;
	/** Earlier messages, oldest first, without the question. */
	history: readonly ChatMessage[];
	question: string;
	/** Best first; none where nothing was retrieved. */
	passages: readonly Passage[];
	/** How well the knowledge bases answer the question in absolute terms, 0..1; 0 where there are none. */
	confidence: number;
	/**
	 * Whether the knowledge bases could not be searched: then that there are no passages says nothing about what they hold.
	 */
	search_failed?: boolean;
	/** The tools that it may call, those that matter most first; none where there are none. */
	tools: readonly ToolDefinition[];
	/** The rounds of this reply so far, in order; the model goes on from there. */
	rounds: readonly CompletedRound[];
}

/** The next piece of the reply's text, never empty. */
export interface ModelDelta {
	type: 'delta';
	text: string;
}

/** What the answer cost, in the provider's own count; at most once. A model that counts no tokens does not report any. */
export interface ModelUsage {
	type: 'usage';
	input_tokens: number;
	output_tokens: number;
}

/** A call that the model asks for, whole. Calls come once it is known that the answer has not broken off. */
export interface ModelToolCall {
	type: 'tool_call';
	/** Unique within the answer. */
	id: string;
	/** As a tool may be called, `^[a-zA-Z0-9_-]{1,64}$`, whatever the model wrote. */
	name: string;
	/**
	 * What the model gave, parsed. Where it wrote what is not JSON this is its text, a string: no tool takes one, so whoever
	 * holds it against the tool's schema has an error to tell the model.
	 */
	arguments: unknown;
}

/**
 * What a model has to be given again with this round when it is asked for the next, such as its signed thinking. Plain data
 * that nobody else reads; at most once, and only beside calls.
 */
export interface ModelMemory {
	type: 'memory';
	memory: unknown;
}

/**
 * Which of the passages it was given, by their source numbers: those that had no room are left out. First of all, where
 * it was not given all of them.
 */
export interface ModelPassages {
	type: 'passages';
	indexes: readonly number[];
}

/** What a model yields while it answers. Consumers switch on `type`, so that kinds can be added. */
export type ModelEvent = ModelPassages | ModelDelta | ModelToolCall | ModelUsage | ModelMemory;

/** A model that answers in a conversation. */
export interface ChatModel {
	/**
	 * Writes one reply, or the next round of it. The joined deltas are its text in Markdown, citing passages as `[1]`, `[2]`.
	 * Ends by throwing the signal's reason once it is aborted, and with an AppError `model_error` where the model fails.
	 */
	stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

/** A source of chat models: the part of a model's full name before the first slash. */
export interface ChatProvider {
	id: string;
	chat: ChatModel;
	/** The names that it serves; null where it takes any. */
	models: readonly ChatModelDescription[] | null;
	/** What any model of it reads and writes at once, in tokens; null or absent where that is not known. */
	context_tokens?: number | null;
}

/** A model by its name within the provider. */
export interface ChatModelDescription {
	name: string;
	/** One sentence for people. */
	description: string;
	/** How much it reads and writes at once, in tokens; null or absent where that is not known. */
	context_tokens?: number | null;
}
