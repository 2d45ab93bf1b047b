import type { CreateAssistant, Reply } from './assistant.ts';
import { type Judgement, judge } from './judge.ts';
import { mapConcurrently } from './map-concurrently.ts';
import { expectationOf, type JudgedQuestion, type QuestionSet } from './question-sets.ts';

/** Questions that are asked at the same time, so that both cores work. */
const CONCURRENCY = 4;

/** A question with the reply to it. */
export interface JudgedAnswer {
	/** The name of the question's set. */
	set: string;
	question: JudgedQuestion;
	reply: Reply;
	judgement: Judgement;
}

/** The answers to the questions of a set. */
export interface JudgedSet {
	name: string;
	answers: JudgedAnswer[];
	/** Documents that were not indexed, each with the reason. */
	unread: readonly string[];
}

/** Asks the questions of a set, each in a new conversation, and judges the replies. */
export async function askSet(create: CreateAssistant, { name, documents, questions }: QuestionSet): Promise<JudgedSet> {
	const assistant = await create(name, documents);
	const answers = await mapConcurrently(questions, CONCURRENCY, async (question): Promise<JudgedAnswer> => {
		const reply = await assistant.ask(question.history, question.question);
		const judged = { content: reply.content, isCited: reply.cited.length > 0 };
		return { set: name, question, reply, judgement: judge(judged, expectationOf(question)) };
	});
	return { name, answers, unread: assistant.unread };
}
