import type { ToolDefinition } from '../chat-model.ts';

/** A part of an assistant message that is sent back to the model. */
export type AssistantPart =
	| { type: 'text'; text: string }
	/** Reasoning of an earlier round, signed if the service signs it. */
	| { type: 'reasoning'; text: string; signature: string | null }
	/** Encrypted reasoning of an earlier round, unchanged. */
	| { type: 'redacted_reasoning'; data: string }
	| { type: 'tool_call'; id: string; name: string; input: object; signature: string | null };

export interface ToolResultPart {
	/** The id of the call. */
	id: string;
	result: string;
	isError: boolean;
}

/** One message of a prompt, the same for every protocol. */
export type PromptMessage =
	| { role: 'system' | 'user'; text: string }
	| { role: 'assistant'; parts: readonly AssistantPart[] }
	| { role: 'tool'; results: readonly ToolResultPart[] };

/** Everything that one call sends to a service. */
export interface ModelCall {
	/** The name of the model at its service. */
	model: string;
	messages: readonly PromptMessage[];
	tools: readonly ToolDefinition[];
	/** Null leaves it to the service. */
	maxOutputTokens: number | null;
	/** Null leaves it to the service. */
	temperature: number | null;
}
