import { existsSync, readFileSync } from 'node:fs';
import type { DialogueMessage, SourceDocument } from './assistant.ts';

/** A question about a paragraph of an article. */
export interface SpanQuestion {
	id: string;
	base: string;
	question: string;
	/** Spans of the paragraph. Empty if the paragraph was written to look as if it answered, but does not. */
	answers: string[];
	/** The paragraph. */
	passage: string;
}

/** A turn of a dialogue, with the turns before it. */
export interface DialogueQuestion {
	id: string;
	base: string;
	history: DialogueMessage[];
	question: string;
	/** The question as a person rewrote it to stand alone. */
	rewrite?: string;
	/** The passages that answer it. */
	relevant: string[];
	answerability: 'ANSWERABLE' | 'PARTIAL' | 'UNANSWERABLE' | 'UNDERSPECIFIED' | 'CONVERSATIONAL';
}

/** Passages and questions of several knowledge bases. */
export interface QaCollection<Question> {
	bases: Array<{ name: string; documents: SourceDocument[]; questions: Question[] }>;
}

const folder = new URL('../../../shared/data/qa/', import.meta.url);

/** Reads a collection; undefined without the shared data. @param only the knowledge bases to read, all by default */
export function readQaCollection(name: 'squad', only?: readonly string[]): QaCollection<SpanQuestion> | undefined;
export function readQaCollection(
	name: 'mtrag' | 'mtrag-un',
	only?: readonly string[],
): QaCollection<DialogueQuestion> | undefined;
export function readQaCollection(name: string, only?: readonly string[]): QaCollection<{ base: string }> | undefined {
	const file = (part: string) => new URL(`${name}/${part}.jsonl`, folder);
	if (!existsSync(file('passages'))) return undefined;
	const lines = (part: string) =>
		readFileSync(file(part), 'utf8')
			.split('\n')
			.filter(Boolean)
			.map((line) => JSON.parse(line));
	const passages: Array<{ id: string; base: string; title: string; text: string }> = lines('passages');
	const questions: Array<{ base: string }> = lines('questions');
	const names = only ?? [...new Set(passages.map(({ base }) => base))];
	const bases = names.map((base) => ({
		name: base,
		documents: passages
			.filter((passage) => passage.base === base)
			.map(({ id, title, text }) => ({ key: id, title, content: text })),
		questions: questions.filter((question) => question.base === base),
	}));
	return { bases };
}
