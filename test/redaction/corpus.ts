import { readFileSync } from 'node:fs';
import { findValues, REDACTION_KINDS, type RedactionKind } from '../../src/redaction/index.ts';

/** A line of the corpus: its text, and the values that must be found, as `kind:value`. */
export interface CorpusLine {
	text: string;
	expected: string[];
}

const MARK = /\{(email|phone|card):([^}]*)\}/g;

export function readCorpus(file: string): CorpusLine[] {
	const lines = readFileSync(new URL(file, import.meta.url), 'utf8').split('\n');
	return lines
		.filter((line) => line !== '' && !line.startsWith('#'))
		.map((line) => {
			const marked = line.slice(line.indexOf('\t') + 1);
			return {
				text: marked.replace(MARK, '$2'),
				expected: Array.from(marked.matchAll(MARK), ([, kind, value]) => `${kind}:${value}`),
			};
		});
}

export function found(text: string): string[] {
	return findValues(text, new Set(REDACTION_KINDS)).map(({ kind, start, end }) => `${kind}:${text.slice(start, end)}`);
}

/** The shares of found values that are right, and of values that were found, whole. */
export function measure(lines: readonly CorpusLine[], kind: RedactionKind) {
	let [right, wrong, missed] = [0, 0, 0];
	const failures: string[] = [];
	for (const { text, expected } of lines) {
		const ofKind = (values: readonly string[]) => values.filter((value) => value.startsWith(kind));
		const left = ofKind(expected);
		for (const value of ofKind(found(text))) {
			const at = left.indexOf(value);
			if (at >= 0) left.splice(at, 1);
			if (at >= 0) right++;
			else wrong++;
			if (at < 0) failures.push(`wrong ${value} in: ${text}`);
		}
		missed += left.length;
		failures.push(...left.map((value) => `missed ${value} in: ${text}`));
	}
	return { precision: right / (right + wrong), recall: right / (right + missed), right, wrong, missed, failures };
}
