import type { RagSettings, Usage } from '../contract/index.ts';
import type { ModelPrice } from './price.ts';

/** One retrieved piece of a document, as given to a model. */
export interface Passage {
	/** The source number that an answer cites, from 1. */
	index: number;
	/** Absent in passages from before this field. */
	knowledge_base_id?: string;
	document_id: string;
	title: string;
	url: string | null;
	/** The page on which it begins, from 1; null for a format without pages. */
	page: number | null;
	/** The headings above it, outermost first. */
	heading_path: readonly string[];
	text: string;
	/** Its place in the document, from 0; absent in passages from before this field. */
	position?: number;
	/** The text of the same section before and after it, which may be empty. */
	around?: { before: string; after: string };
	/** How well it matches the question, 0..1. */
	score: number;
}

/** An earlier message of the conversation. */
export interface ChatMessage {
	role: 'user' | 'assistant';
	content: string;
}

/** The description of a tool for a model. */
export interface ToolDefinition {
	/** The name in the model's calls: `^[a-zA-Z0-9_-]{1,64}$`. */
	name: string;
	description: string | null;
	/** The JSON Schema of its arguments, which are an object. */
	parameters: object;
}

/** A call that a model asked for, with its result. */
export interface ToolResult {
	/** The id of the call, from the model. */
	id: string;
	name: string;
	/** An object, or the text that the model wrote if it is not JSON. */
	arguments: unknown;
	/** The text for the model, at most 32 KiB. */
	result: string;
	is_error: boolean;
}

/** A finished round of this reply: the text of the model, and the calls that it asked for. */
export interface CompletedRound {
	text: string;
	calls: readonly ToolResult[];
	/** The memory of the round that the model returned, unchanged; absent if it returned none. */
	memory?: unknown;
}

/** Everything that a model may use for one reply. Plain data that can be sent between threads. */
export interface ChatRequest {
	/** The name of the model within its provider: the part after the first slash of `provider/name`. */
	model: string;
	/** The assistant's master prompt; may be empty. */
	instructions: string;
	/** Earlier messages, oldest first, without the question. */
	history: readonly ChatMessage[];
	question: string;
	/** Best first; empty if the search found nothing. */
	passages: readonly Passage[];
	/** How well the knowledge bases answer the question in absolute terms, 0..1; 0 without knowledge bases. */
	confidence: number;
	/** What the model is to write: a reply (the default), or a query for the search, with the instructions alone. */
	purpose?: 'reply' | 'query';
	/** What a reply may be taken from; `prefer_documents` if absent. */
	answer_policy?: RagSettings['answer_policy'];
	/** The least probability with which the built-in model answers; null or absent: its own threshold. */
	min_confidence?: RagSettings['min_confidence'];
	/** Synonyms of words of the question; only the built-in model uses them. */
	synonyms?: ReadonlyArray<{ word: string; synonyms: readonly string[] }> | undefined;
	/** When the question was asked, in milliseconds, and the IANA time zone of the deployment; only for a model with `needsMoment`. */
	moment?: { asked_at: number; time_zone: string };
	/** The search failed, so an empty list of passages does not mean that the knowledge bases have no answer. */
	search_failed?: boolean;
	/** The tools that it may call, the most important first. */
	tools: readonly ToolDefinition[];
	/** The rounds of this reply so far, in order. The model continues after them. */
	rounds: readonly CompletedRound[];
	/** Values of the conversation are replaced by placeholders such as `[EMAIL_1]`, which the model must keep. */
	has_placeholders?: boolean;
	/** The most tokens that the prompt and the answer may have, where a budget has reserved their price. */
	reserved_tokens?: Usage | undefined;
	/** Headers of W3C Trace Context for the request to a provider. */
	trace_headers?: Readonly<Record<string, string>>;
}

/** The next piece of the reply's text, never empty. */
export interface ModelDelta {
	type: 'delta';
	text: string;
}

/** The tokens of the answer as the provider counts them; at most once. A model that counts no tokens reports none. */
export interface ModelUsage {
	type: 'usage';
	input_tokens: number;
	output_tokens: number;
}

/**
 * A complete call that the model asks for. Calls come after the end of the answer, so none comes from an answer that
 * broke off.
 */
export interface ModelToolCall {
	type: 'tool_call';
	/** Unique within the answer. */
	id: string;
	/** Always `^[a-zA-Z0-9_-]{1,64}$`, even if the model wrote another name. */
	name: string;
	/**
	 * The parsed arguments. If the model did not write JSON, this is its text, a string. No schema of a tool accepts a string,
	 * so the validation against the schema gives an error for the model.
	 */
	arguments: unknown;
}

/**
 * What the model needs back with this round in the request for the next, such as its signed thinking. Plain data that only
 * the model reads; at most once, and only beside calls.
 */
export interface ModelMemory {
	type: 'memory';
	memory: unknown;
}

/**
 * The source numbers of the passages that fitted into the prompt. Comes before any part of the answer, and only if some passages
 * did not fit.
 */
export interface ModelPassages {
	type: 'passages';
	indexes: readonly number[];
}

/** The most tokens that the prompt has. Comes before any other event, only for a request with `reserved_tokens`. */
export interface ModelPrompt {
	type: 'prompt';
	input_tokens: number;
}

/** A part of the answer that its text does not have: of its reasoning, or of a call. */
export interface ModelUnseenOutput {
	type: 'unseen_output';
	/** The characters of reasoning or of arguments, 0 for any other part. */
	characters: number;
}

/** A request failed before any part of its answer came. */
export interface ModelAttemptFailed {
	type: 'attempt_failed';
	/** Whether the provider may charge for it: it has neither refused the request, nor was it out of reach. */
	isCharged: boolean;
}

/** The request is sent again after an attempt that failed. */
export interface ModelAttemptRepeated {
	type: 'attempt_repeated';
}

/** The text of the answer says that the passages have no answer. At most once, after the last delta. */
export interface ModelRefusal {
	type: 'refusal';
}

/** An event of a model's answer. Consumers switch on `type`, so that types can be added. */
export type ModelEvent =
	| ModelPrompt
	| ModelPassages
	| ModelDelta
	| ModelToolCall
	| ModelUsage
	| ModelMemory
	| ModelUnseenOutput
	| ModelAttemptFailed
	| ModelAttemptRepeated
	| ModelRefusal;

/** A model that answers in a conversation. */
export interface ChatModel {
	/** The passages that it reads at least, for a model that itself chooses among many; absent for any other model. */
	minPassages?: number;
	/** Whether its answers cost nothing. It need not report usage. */
	isFree?: boolean;
	/** Whether it gets the `moment` of a question. */
	needsMoment?: boolean;
	/**
	 * Writes one reply, or its next round, and resolves at its end. The joined deltas are its text in Markdown, which cites passages as
	 * `[1]`, `[2]`.
	 * @param onEvent is called with each event as soon as it arrives, and not after the promise is settled; if it throws, the answer is
	 * aborted
	 * @throws the signal's reason after an abort; AppError `model_error` if the model fails; what `onEvent` throws
	 */
	stream(request: ChatRequest, signal: AbortSignal, onEvent: (event: ModelEvent) => void): Promise<void>;
}

/** A provider of chat models. Its id is the part of a model's full name before the first slash. */
export interface ChatProvider {
	id: string;
	chat: ChatModel;
	/** The models that it serves; null if it takes any name. */
	models: readonly ChatModelDescription[] | null;
	/** Tokens that a model of it reads and writes at once; null or absent if unknown. */
	context_tokens?: number | null;
	/** The price of a model by its name within the provider; null or absent if unknown. */
	priceOf?(model: string): ModelPrice | null;
	/** The names with prices of their own, of a provider that takes any name. */
	pricedModels?: readonly string[];
	/** The circuits of it and of its models that are not closed now. */
	unclosedCircuits?(): UnclosedCircuit[];
}

/** A circuit breaker that refuses calls, or permits a trial call only. */
export interface UnclosedCircuit {
	/** Null: the circuit of the whole provider. */
	model: string | null;
	state: 'open' | 'half-open';
}

/** A model by its name within the provider. */
export interface ChatModelDescription {
	name: string;
	/** One sentence for people. */
	description: string;
	/** Tokens that it reads and writes at once; null or absent if unknown. */
	context_tokens?: number | null;
}
