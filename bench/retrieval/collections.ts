import { existsSync, readFileSync } from 'node:fs';

/** A test collection: documents, questions, and the relevant documents of each question. */
export interface Collection {
	name: string;
	documents: Array<{ id: string; title: string; text: string }>;
	/** Only questions with a relevant document. */
	questions: Array<{ id: string; text: string; relevant: ReadonlySet<string> }>;
}

/** The collections of the shared data. */
export const COLLECTIONS = ['covidfaq', 'cranfield', 'cacm'];

const folder = new URL('../../../shared/data/ir/', import.meta.url);

/** Reads a collection; undefined without the shared data. */
export function readCollection(name: string): Collection | undefined {
	const file = (part: string) => new URL(`${name}/${part}`, folder);
	if (!existsSync(file('docs.jsonl'))) return undefined;
	const lines = (part: string) => readFileSync(file(part), 'utf8').split('\n').filter(Boolean);
	const relevant = new Map<string, Set<string>>();
	for (const line of lines('qrels.tsv').slice(1)) {
		const [question = '', document = '', grade] = line.split('\t');
		if (Number(grade) <= 0) continue;
		const known = relevant.get(question);
		if (known) known.add(document);
		else relevant.set(question, new Set([document]));
	}
	const questions = lines('queries.jsonl')
		.map((line) => JSON.parse(line) as { id: string; text: string })
		.flatMap(({ id, text }) => {
			const documents = relevant.get(id);
			return documents ? [{ id, text, relevant: documents }] : [];
		});
	return { name, documents: lines('docs.jsonl').map((line) => JSON.parse(line)), questions };
}
