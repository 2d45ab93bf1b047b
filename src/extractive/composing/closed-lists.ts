import { analyse } from '../../text/index.ts';
import type { Candidate } from '../matching/candidate.ts';
import type { Source } from '../matching/source.ts';
import { weightedShare } from '../matching/term-space.ts';
import { isSpoken } from '../question/function-words.ts';
import { NAMED_KINDS, type NamedKind } from '../question/named-kinds.ts';
import { isNegated } from '../question/negation.ts';
import type { Question } from '../question/question.ts';
import type { SpokenLanguage } from '../spoken-language.ts';

/** What the documents say about what a question asks for, among others of its kind: a country, a language, a means of payment. */
export type NamedMember =
	| { kind: 'stated'; candidate: Candidate }
	/** A list has others of its kind. The names are in the language of the question. */
	| { kind: 'unlisted'; source: Source; asked: string; listed: string[] };

/** A part is about the matter of the question if it has at least this share of its other words. */
const MIN_MATTER = 0.6;
const MIN_LISTED = 2;
const MAX_LISTED = 12;
const MAX_READ = 12;

/**
 * Answers a question for one of its kind: from a part that names it, else from the longest list that has only others:
 * `We deliver to the Netherlands, Belgium and Germany.` for `Do you ship to the UK?`. Null if neither is there, or if the lists are
 * open (`worldwide`) or deny.
 */
export function* namedMember(question: Question, ordered: readonly Candidate[]): Generator<void, NamedMember | null> {
	if (!question.isYesNo) return null;
	for (const kind of NAMED_KINDS) {
		const [asked, ...others] = kind.membersIn(question.text, [question.language]);
		if (asked === undefined || others.length > 0) continue;
		const found = yield* memberOf(kind, asked, question, ordered);
		if (found !== null) return found;
	}
	return null;
}

function* memberOf(
	kind: NamedKind,
	asked: string,
	question: Question,
	ordered: readonly Candidate[],
): Generator<void, NamedMember | null> {
	const askedName = kind.nameOf(asked, question.language);
	let best: { source: Source; listed: string[] } | null = null;
	let isNamed = false;
	for (const candidate of ordered.slice(0, MAX_READ)) {
		yield;
		const languages = languagesOf(question, candidate.source);
		if (matterOf(candidate, askedName) < MIN_MATTER) continue;
		if (kind.membersIn(ownText(candidate), languages).includes(asked)) return { kind: 'stated', candidate };
		const text = listText(candidate);
		const listed = kind.membersIn(text, languages);
		if (listed.includes(asked)) isNamed = true;
		if (isNamed || kind.isOpen(text) || isNegated(text)) continue;
		if (ownMatterOf(candidate, askedName) < MIN_MATTER || !kind.isAbout(contextOf(candidate, text))) continue;
		const isLonger = listed.length > (best?.listed.length ?? MIN_LISTED - 1);
		if (isLonger && listed.length <= MAX_LISTED) best = { source: candidate.source, listed };
	}
	if (best === null || isNamed) return null;
	for (const source of new Set(ordered.map((candidate) => candidate.source))) {
		yield;
		const text = [...source.passage.heading_path, source.passage.text].join('\n');
		// A passage that names it elsewhere contradicts the list.
		if (kind.mayName(text, asked, languagesOf(question, source))) return null;
	}
	const listed = best.listed.map((member) => kind.nameOf(member, question.language));
	return { kind: 'unlisted', source: best.source, asked: askedName, listed };
}

function languagesOf({ language }: Question, { reading }: Source): SpokenLanguage[] {
	return [language, ...(isSpoken(reading.language) ? [reading.language] : [])];
}

/** A text with the headings above it. */
function contextOf({ source }: Candidate, text: string): string {
	return [...source.passage.heading_path, text].join('\n');
}

/** The share without the headings: a heading `Delivery` does not make a list of warehouses one of countries served. */
function ownMatterOf(candidate: Candidate, askedName: string): number {
	// Rows of a table are about what stands above the table.
	return matterShare(candidate, 'selection' in candidate.part ? candidate.all : candidate.own, askedName);
}

/** The share of the question's words, apart from the asked name, that a part has with its headings. */
function matterOf(candidate: Candidate, askedName: string): number {
	return matterShare(candidate, candidate.all, askedName);
}

function matterShare({ space }: Candidate, found: Candidate['all'], askedName: string): number {
	const name = new Set(analyse(askedName, space.question.language));
	return weightedShare(
		found,
		space.terms.map(({ term, weight, isName, isCarriedOver }) =>
			name.has(term) || isName || isCarriedOver ? 0 : weight,
		),
	);
}

function ownText({ part }: Candidate): string {
	if ('unit' in part) return `${part.unit.label} ${part.unit.text}`;
	const { table, rows } = part.selection;
	return rows.flatMap((row) => (table.rows[row] ?? []).map(({ text }) => text)).join('\n');
}

/** The text of a part with what stands beside it: all items of its list, the names of all rows of its table. */
function listText({ part, source }: Candidate): string {
	if ('selection' in part) {
		const { rows, labelColumns } = part.selection.table;
		return rows.flatMap((row) => row.slice(0, labelColumns).map(({ text }) => text)).join('\n');
	}
	const { unit } = part;
	if (!unit.isListed && unit.kind !== 'pair') return unit.text;
	const siblings = source.reading.units.filter(({ block, kind }) => block === unit.block && kind === unit.kind);
	return siblings.map(({ label, text }) => `${label} ${text}`).join('\n');
}
