import { type Figure, type Goal, once } from '../report/figure.ts';
import { evaluate, mean } from '../retrieval/measures.ts';
import type { CreateAssistant, Reply } from './assistant.ts';
import { mapConcurrently } from './map-concurrently.ts';
import type { DialogueQuestion, QaCollection } from './qa-collections.ts';
import { shareFigure } from './set-figures.ts';
import type { TranscriptEntry } from './transcript.ts';

const CONCURRENCY = 4;
const CUTOFF = 5;

interface DialogueAnswer {
	question: DialogueQuestion;
	/** To the question, after all earlier questions of the dialogue were asked in the same conversation. */
	reply: Reply;
	/** nDCG@5 of the search for the question after its history, and of the question as a person rewrote it; null without relevant passages. */
	ndcg: number | null;
	ndcgOfRewrite: number | null;
}

/** The goals of a collection. */
export interface DialogueGoals {
	/** nDCG@5 of later questions. */
	laterNdcg: number;
	/** Per cent of the answers that cite a relevant passage. */
	relevantCited: number;
}

/** Replays the dialogue of every question, and measures the search for its last question. */
export async function replayDialogues(
	create: CreateAssistant,
	{ bases }: QaCollection<DialogueQuestion>,
): Promise<DialogueAnswer[]> {
	const answers: DialogueAnswer[] = [];
	for (const { name, documents, questions } of bases) {
		const assistant = await create(name, documents);
		const replay = async (question: DialogueQuestion): Promise<DialogueAnswer> => {
			const earlier = question.history.filter(({ role }) => role === 'user').map(({ content }) => content);
			const relevant = new Set(question.relevant);
			const quality = async (query: string, before: DialogueQuestion['history'] = []) =>
				relevant.size === 0 ? null : evaluate(await assistant.search(query, before), relevant, CUTOFF).ndcg;
			return {
				question,
				reply: await assistant.ask(earlier, question.question),
				ndcg: await quality(question.question, question.history),
				ndcgOfRewrite: question.rewrite === undefined ? null : await quality(question.rewrite),
			};
		};
		answers.push(...(await mapConcurrently(questions, CONCURRENCY, replay)));
	}
	return answers;
}

/** @param name begins the name of each figure */
export function dialogueFigures(name: string, answers: readonly DialogueAnswer[], goals?: DialogueGoals): Figure[] {
	const answerable = answers.filter(isAnswerable);
	const first = answerable.filter(({ question }) => question.history.length === 0);
	const later = answerable.filter(({ question }) => question.history.length > 0);
	const ofKind = (kind: DialogueQuestion['answerability']) =>
		answers.filter(({ question }) => question.answerability === kind);
	const refusals = (what: string, of: readonly DialogueAnswer[]) =>
		shareFigure(`${name}: ${what} refused`, of.filter(isRefusal).length, of.length);
	return [
		...ndcgFigure(`${name}: nDCG@5, first questions`, first, ({ ndcg }) => ndcg),
		...ndcgFigure(`${name}: nDCG@5, later questions`, later, ({ ndcg }) => ndcg, goals?.laterNdcg),
		...ndcgFigure(`${name}: nDCG@5, later questions as people rewrote them`, later, (answer) => answer.ndcgOfRewrite),
		...shareFigure(
			`${name}: relevant passage cited`,
			answerable.filter(citesRelevant).length,
			answerable.length,
			goals && { is: 'at least', bound: goals.relevantCited },
		),
		...refusals('answerable', answerable),
		...refusals('unanswerable', ofKind('UNANSWERABLE')),
		...refusals('underspecified', ofKind('UNDERSPECIFIED')),
	];
}

/** The answerable questions whose reply cites no relevant passage, and the unanswerable ones that were answered. */
export function dialogueFailures(answers: readonly DialogueAnswer[]): TranscriptEntry[] {
	return answers.flatMap((answer) => {
		const { question, reply } = answer;
		const { id, answerability, relevant } = question;
		const isMissed = isAnswerable(answer) && !citesRelevant(answer);
		if (!isMissed && (answerability !== 'UNANSWERABLE' || isRefusal(answer))) return [];
		const cited = reply.cited.length === 0 ? 'nothing' : reply.cited.join(', ');
		const expected = isMissed ? `expected one of ${relevant.join(', ')}` : 'expected a refusal';
		const history = question.history.filter(({ role }) => role === 'user').map(({ content }) => content);
		return [{ id, history, question: question.question, reply: reply.content, verdict: `cites ${cited}; ${expected}` }];
	});
}

const isAnswerable = ({ question }: DialogueAnswer) =>
	question.relevant.length > 0 && (question.answerability === 'ANSWERABLE' || question.answerability === 'PARTIAL');
const isRefusal = ({ reply }: DialogueAnswer) => reply.cited.length === 0;
const citesRelevant = ({ question, reply }: DialogueAnswer) =>
	question.relevant.some((passage) => reply.cited.includes(passage));

function ndcgFigure(
	name: string,
	answers: readonly DialogueAnswer[],
	ndcgOf: (answer: DialogueAnswer) => number | null,
	bound?: number,
): Figure[] {
	const values = answers.map(ndcgOf).filter((value) => value !== null);
	if (values.length === 0) return [];
	const goal: Goal | undefined = bound === undefined ? undefined : { is: 'at least', bound };
	return [{ name, unit: '', value: once(mean(values)), remark: `${values.length} questions`, ...(goal && { goal }) }];
}
