import type { Figure, Goal } from '../report/figure.ts';
import type { CreateAssistant, Reply } from './assistant.ts';
import { hasValue } from './judge.ts';
import { mapConcurrently } from './map-concurrently.ts';
import type { QaCollection, SpanQuestion } from './qa-collections.ts';
import { lengthFigures, shareFigure } from './set-figures.ts';
import type { TranscriptEntry } from './transcript.ts';

const CONCURRENCY = 4;
/** Questions of other knowledge bases that each one is asked. */
const FOREIGN_QUESTIONS = 50;

interface SpanAnswer {
	question: SpanQuestion;
	reply: Reply;
	/** The place of the question's passage in the search, from 0; -1 if it is not found. */
	rank: number;
}

/** The answers to the questions of a collection. */
export interface SpanAnswers {
	answerable: SpanAnswer[];
	/** To questions that only look as if their passage answered. */
	adversarial: SpanAnswer[];
	/** To questions about another knowledge base. */
	foreign: SpanAnswer[];
}

/** Asks every question of the collection, and each knowledge base some questions of the others. */
export async function askSpans(create: CreateAssistant, { bases }: QaCollection<SpanQuestion>): Promise<SpanAnswers> {
	const answers: SpanAnswers = { answerable: [], adversarial: [], foreign: [] };
	for (const { name, documents, questions } of bases) {
		const assistant = await create(name, documents);
		const askAll = (of: readonly SpanQuestion[]) =>
			mapConcurrently(of, CONCURRENCY, async (question): Promise<SpanAnswer> => {
				const rank = (await assistant.search(question.question)).indexOf(question.passage);
				return { question, rank, reply: await assistant.ask([], question.question) };
			});
		const others = bases.filter((other) => other.name !== name).flatMap((other) => other.questions);
		answers.answerable.push(...(await askAll(questions.filter(isAnswerable))));
		answers.adversarial.push(...(await askAll(questions.filter((question) => !isAnswerable(question)))));
		answers.foreign.push(...(await askAll(evenlySpaced(others.filter(isAnswerable), FOREIGN_QUESTIONS))));
	}
	return answers;
}

/** @param name begins the name of each figure */
export function spanFigures(name: string, { answerable, adversarial, foreign }: SpanAnswers): Figure[] {
	const share = (what: string, of: readonly SpanAnswer[], holds: (answer: SpanAnswer) => boolean, goal?: Goal) =>
		shareFigure(`${name}: ${what}`, of.filter(holds).length, of.length, goal);
	return [
		...share('right passage first', answerable, ({ rank }) => rank === 0),
		...share('right passage among five', answerable, ({ rank }) => rank >= 0 && rank < 5),
		...share('gold span in the answer', answerable, hasSpan, { is: 'at least', bound: 90 }),
		...share('right passage cited', answerable, citesPassage),
		...share('answerable refused', answerable, isRefusal, { is: 'at most', bound: 4 }),
		...share('foreign refused', foreign, isRefusal, { is: 'at least', bound: 97 }),
		...share('adversarial refused', adversarial, isRefusal),
		...lengthFigures(
			name,
			answerable.filter((answer) => !isRefusal(answer)).map(({ reply }) => reply.content),
		),
	];
}

/** The answerable questions whose answer lacks the gold span, and the foreign ones that were answered. */
export function spanFailures({ answerable, foreign }: SpanAnswers): TranscriptEntry[] {
	const expected = ({ answers, passage }: SpanQuestion) => `expected ‹${answers.join(' | ')}› from ${passage}`;
	return [
		...answerable
			.filter((answer) => !hasSpan(answer))
			.map((answer) => entry(answer, `${isRefusal(answer) ? 'refused' : 'wrong'}; ${expected(answer.question)}`)),
		...foreign
			.filter((answer) => !isRefusal(answer))
			.map((answer) => entry(answer, 'a foreign question that was answered')),
	];
}

function entry({ question, reply }: SpanAnswer, verdict: string): TranscriptEntry {
	return { id: question.id, history: [], question: question.question, reply: reply.content, verdict };
}

const isAnswerable = ({ answers }: SpanQuestion) => answers.length > 0;
const isRefusal = ({ reply }: SpanAnswer) => reply.cited.length === 0;
const citesPassage = ({ question, reply }: SpanAnswer) => reply.cited.includes(question.passage);
const hasSpan = ({ question, reply }: SpanAnswer) => question.answers.some((span) => hasValue(reply.content, span));

/** At most `count` of the items, over the whole list. */
function evenlySpaced<T>(items: readonly T[], count: number): T[] {
	const step = Math.max(1, items.length / count);
	return Array.from({ length: Math.min(count, items.length) }, (_, at) => items[Math.floor(at * step)] as T);
}
