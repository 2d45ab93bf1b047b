/** A document of a knowledge base: a file, or text with a title. `key` names it in questions. */
export type SourceDocument =
	| { key: string; file_name: string; bytes: Uint8Array<ArrayBuffer> }
	| { key: string; title: string; content: string };

/** An earlier message of a dialogue. */
export interface DialogueMessage {
	role: 'user' | 'assistant';
	content: string;
}

/** A reply of the built-in model. */
export interface Reply {
	content: string;
	/** The keys of the cited documents, in order of first mention. */
	cited: string[];
	/** The highest score of a cited passage; 0 without citations. */
	score: number;
}

/** An assistant of the built-in model with one knowledge base. */
export interface Assistant {
	/** Documents that were not indexed, each with the reason. */
	readonly unread: readonly string[];
	/** Sends the messages of a visitor one after the other, in a new conversation. @returns the reply to the last */
	ask(history: readonly string[], question: string): Promise<Reply>;
	/** The keys of the best documents for a question after earlier messages, each once, best first. */
	search(question: string, earlier?: readonly DialogueMessage[]): Promise<string[]>;
}

/** Makes an assistant with a knowledge base of this name that has the documents. */
export type CreateAssistant = (name: string, documents: readonly SourceDocument[]) => Promise<Assistant>;
