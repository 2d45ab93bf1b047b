import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SourceDocument } from './assistant.ts';
import type { Expectation } from './judge.ts';

export const QUESTION_KINDS = [
	'lookup',
	'table',
	'price',
	'contact',
	'hours',
	'date',
	'duration',
	'quantity',
	'person',
	'yes_no',
	'condition',
	'how_to',
	'definition',
	'code',
	'comparison',
	'list',
	'paraphrase',
	'small_talk',
] as const;
export type QuestionKind = (typeof QUESTION_KINDS)[number];

/** A line of a set's `questions.jsonl`. */
export interface JudgedQuestion {
	id: string;
	/** ISO 639-1. */
	language: string;
	kind: QuestionKind;
	/** The visitor's earlier questions in the same conversation, oldest first. */
	history: string[];
	question: string;
	answerable: boolean;
	/** Whether it is about the company's matters. An unanswerable question about anything else is foreign. */
	on_topic: boolean;
	required: string[][];
	forbidden: string[];
	/** The documents that answer it: paths below `documents`, or as `documents.txt` lists them. */
	sources: string[];
}

/** The documents of one knowledge base and questions about them. */
export interface QuestionSet {
	name: string;
	documents: SourceDocument[];
	questions: JudgedQuestion[];
}

/** The open half is for work on the answers. The held half only counts: it is measured once, at the end. */
export type Half = 'open' | 'held';

/** The question sets of the project: a folder with one folder for each half, and in it one for each set. */
export const QUESTION_SETS = fileURLToPath(new URL('../../data/question-sets/', import.meta.url));
const SAMPLES = fileURLToPath(new URL('../../data/samples/', import.meta.url));
const PUBLIC_DOCUMENTS = fileURLToPath(new URL('../../../shared/data/docs/files/', import.meta.url));

/** Sets, and a sentence for each set without its documents. */
export interface FoundSets {
	sets: QuestionSet[];
	skipped: string[];
}

/**
 * Reads the sets of a half. The documents of a set are the files in its `documents`, or those that its `documents.txt` lists, as
 * paths below the shared documents; the set `samples` is about data/samples.
 */
export function readQuestionSets(half: Half, folder = QUESTION_SETS): FoundSets {
	const found: FoundSets = { sets: [], skipped: [] };
	for (const name of foldersIn(join(folder, half))) {
		const path = join(folder, half, name);
		const questions = linesOf(join(path, 'questions.jsonl')).map((line) => JSON.parse(line) as JudgedQuestion);
		const documents = documentsOf(name, path);
		if (documents === null) found.skipped.push(`${half}/${name} is skipped: ${PUBLIC_DOCUMENTS} is not here.`);
		else found.sets.push({ name, documents, questions });
	}
	return found;
}

/** What a correct reply to the question holds. */
export function expectationOf({ answerable, required, forbidden, kind }: JudgedQuestion): Expectation {
	return { answerable, required, forbidden, citationOptional: kind === 'small_talk' };
}

function foldersIn(folder: string): string[] {
	if (!existsSync(folder)) return [];
	const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
	return entries.map(({ name }) => name).sort();
}

function linesOf(path: string): string[] {
	return readFileSync(path, 'utf8')
		.split('\n')
		.filter((line) => line.trim() !== '');
}

/** Null if the documents are not on this machine. */
function documentsOf(name: string, path: string): SourceDocument[] | null {
	const listed = join(path, 'documents.txt');
	if (existsSync(listed)) {
		if (!existsSync(PUBLIC_DOCUMENTS)) return null;
		return linesOf(listed).map((line) => fileDocument(PUBLIC_DOCUMENTS, line.trim()));
	}
	const folder = name === 'samples' ? SAMPLES : join(path, 'documents');
	// The samples' README describes the folder and is not one of them.
	const names = readdirSync(folder).filter((file) => file !== 'README.md');
	return names.sort().map((file) => fileDocument(folder, file));
}

function fileDocument(folder: string, path: string): SourceDocument {
	return { key: path, file_name: basename(path), bytes: new Uint8Array(readFileSync(join(folder, path))) };
}
