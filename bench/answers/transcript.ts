import { normalise } from './judge.ts';
import type { JudgedAnswer } from './judged-sets.ts';

/** A question and the reply to it, as text to read. */
export interface TranscriptEntry {
	id: string;
	history: readonly string[];
	question: string;
	reply: string;
	/** How the reply was judged, and what was expected. */
	verdict: string;
}

/** The entries as Markdown. */
export function transcript(title: string, entries: readonly TranscriptEntry[]): string {
	return `${[`# ${title}`, ...entries.map(entryText)].join('\n\n')}\n`;
}

/** A judged answer for a transcript. */
export function transcriptEntry({ set, question, reply, judgement }: JudgedAnswer): TranscriptEntry {
	const { id, language, kind, history, answerable, required, sources } = question;
	const alternatives = (group: readonly string[]) => [...new Set(group.map(normalise))].join(' | ');
	const expected = answerable
		? `expected ${required.map((group) => `‹${alternatives(group)}›`).join(' and ')} from ${sources.join(', ')}`
		: 'expected a refusal';
	const missing = judgement.missing.map((group) => `, without ‹${alternatives(group)}›`).join('');
	const forbidden = judgement.forbidden.map((value) => `, with ‹${value}›`).join('');
	return {
		id: `${set}, ${id} (${language}, ${kind})`,
		history,
		question: question.question,
		reply: reply.content,
		verdict: `${judgement.outcome}${answerable ? missing : ''}${forbidden}; ${expected}`,
	};
}

/** The worst answers, worst first: the more harm a reply does and the surer the search was of it, the worse. */
export function worstAnswers(answers: readonly JudgedAnswer[], count: number): JudgedAnswer[] {
	return answers
		.filter(({ judgement }) => judgement.outcome !== 'right')
		.sort((a, b) => harmOf(b) - harmOf(a) || b.reply.score - a.reply.score)
		.slice(0, count);
}

/** False values are worse than missing ones, and a false answer is worse than none. */
function harmOf({ question, judgement: { outcome, forbidden } }: JudgedAnswer): number {
	if (outcome === 'refused') return 0;
	if (forbidden.length > 0) return outcome === 'mixed' ? 3 : 4;
	return question.answerable ? 1 : 2;
}

function entryText({ id, history, question, reply, verdict }: TranscriptEntry): string {
	const asked = [...history, question].map((content) => `> ${content.replaceAll('\n', '\n> ')}`);
	return [`## ${id}`, ...asked, reply, `*${verdict}*`].join('\n\n');
}
