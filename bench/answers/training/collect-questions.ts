import type { QuotablePassage } from '../../../src/extractive/index.ts';
import {
	mostFrequent,
	type PassageReading,
	passageLanguages,
	readPassage,
} from '../../../src/extractive/training/index.ts';
import { analyse } from '../../../src/text/index.ts';
import type { SourceDocument } from '../assistant.ts';
import { hasValue } from '../judge.ts';
import { type DialogueQuestion, readQaCollection } from '../qa-collections.ts';
import { type JudgedQuestion, readQuestionSets } from '../question-sets.ts';
import { finish, type TrainingQuestion } from './examples.ts';
import { bareQuestions, columnQuestions, type Fact, factsOf, questionFor } from './generate-questions.ts';
import { READ_PASSAGES } from './local-assistant.ts';
import { LocalBase } from './local-base.ts';
import { SeededRandom } from './seeded-random.ts';

const SEED = 20_261_123;
const MAX_GENERATED = 200;
const MAX_COLUMN_QUESTIONS = 30;
/** Questions about other collections that each one is asked. */
const MAX_STRANGE = 60;
/** Shorter values occur by chance. */
const MIN_VALUE_CHARACTERS = 3;

/** A knowledge base with questions of people about it. */
interface Collection {
	name: string;
	documents: SourceDocument[];
	asked: JudgedQuestion[];
	dialogues: DialogueQuestion[];
}

/** A collection that is indexed, with its facts. */
interface Indexed extends Collection {
	base: LocalBase;
	language: string;
	facts: Fact[];
	readings: PassageReading[];
	vocabulary: ReadonlySet<string>;
}

/** All questions, in a fixed order. */
export async function collectQuestions(): Promise<TrainingQuestion[]> {
	const indexed: Indexed[] = [];
	try {
		for (const collection of collections()) indexed.push(await index(collection));
		const random = new SeededRandom(SEED);
		const questions: TrainingQuestion[] = [];
		for (const one of indexed) {
			const others = indexed.filter(({ name, language }) => name !== one.name && language === one.language);
			questions.push(...(await askedQuestions(one)), ...(await dialogueQuestions(one)));
			questions.push(...(await strangeQuestions(one, others, random)));
			questions.push(...(await generatedQuestions(one, others, random)));
			questions.push(...(await subjectlessQuestions(one, random)));
		}
		return questions;
	} finally {
		for (const { base } of indexed) await base[Symbol.asyncDispose]();
	}
}

function collections(): Collection[] {
	const dialogues = readQaCollection('mtrag');
	if (dialogues === undefined) throw new Error('The training needs ../shared/data, which is not here.');
	const none = { asked: [], dialogues: [] };
	return [
		...readQuestionSets('open').sets.map(({ name, documents, questions }) => {
			return { ...none, name, documents, asked: questions.filter(({ kind }) => kind !== 'small_talk') };
		}),
		...dialogues.bases.map(({ name, documents, questions }) => {
			return { ...none, name: `mtrag ${name}`, documents, dialogues: questions.filter(isOfTrainingHalf) };
		}),
	];
}

/** Half of the conversations, by the last digit of their identifier. */
function isOfTrainingHalf({ id }: DialogueQuestion): boolean {
	return Number.parseInt(id.split('<')[0]?.slice(-1) ?? '', 16) % 2 === 0;
}

async function index(collection: Collection): Promise<Indexed> {
	const base = await LocalBase.create(collection.documents);
	const languages = passageLanguages(base.passages);
	const language = mostFrequent(languages) ?? 'en';
	const readings = base.passages.map((passage, at) => finish(readPassage(passage, languages[at] ?? null)));
	const facts = base.passages.flatMap((passage, at) => factsOf(readings[at] as PassageReading, passage));
	const texts = base.passages.flatMap(({ title, heading_path, text }) => [title, ...heading_path, text]);
	const vocabulary = new Set(texts.flatMap((text) => analyse(text, language)));
	return { ...collection, base, language, facts, readings, vocabulary };
}

async function askedQuestions({ name, base, asked }: Indexed): Promise<TrainingQuestion[]> {
	const questions: TrainingQuestion[] = [];
	for (const { question, history, answerable, required, forbidden } of asked) {
		const earlier = history.map((content) => ({ role: 'user' as const, content }));
		const request = await base.request(question, earlier, READ_PASSAGES);
		const expected = { required, forbidden };
		questions.push({ group: name, kind: 'asked', isAnswerable: answerable, request, expected });
		const hidden = request.passages.map((passage) => withoutLines(passage, required.flat()));
		if (answerable && hidden.some((passage, at) => passage !== request.passages[at]))
			questions.push({
				group: name,
				kind: 'asked, removed',
				isAnswerable: false,
				request: { ...request, passages: hidden },
				expected,
			});
	}
	return questions;
}

async function dialogueQuestions({ name, base, dialogues }: Indexed): Promise<TrainingQuestion[]> {
	const questions: TrainingQuestion[] = [];
	for (const { question, history, relevant, answerability } of dialogues) {
		const isAnswerable = relevant.length > 0 && (answerability === 'ANSWERABLE' || answerability === 'PARTIAL');
		if (!isAnswerable && answerability !== 'UNANSWERABLE') continue;
		const request = await base.request(question, history, READ_PASSAGES);
		questions.push({ group: name, kind: 'dialogue', isAnswerable, request, expected: { relevant } });
	}
	return questions;
}

/** Questions of people about other collections. */
async function strangeQuestions(
	{ name, base, dialogues }: Indexed,
	others: readonly Indexed[],
	random: SeededRandom,
): Promise<TrainingQuestion[]> {
	const asked = others.flatMap(({ asked: all, dialogues: turns }) => [
		...all.filter(({ history, on_topic, answerable }) => history.length === 0 && (answerable || on_topic)),
		...turns.filter(({ history }) => history.length === 0),
	]);
	const questions: TrainingQuestion[] = [];
	const count = Math.min(asked.length, MAX_STRANGE, dialogues.length > 0 ? dialogues.length : MAX_STRANGE);
	for (let i = 0; i < count; i++) {
		const request = await base.request(random.pick(asked).question, [], READ_PASSAGES);
		questions.push({ group: name, kind: 'asked elsewhere', isAnswerable: false, request, expected: { relevant: [] } });
	}
	return questions;
}

/** Questions about some of the facts: with their answer, without it, and about what the documents do not have. */
async function generatedQuestions(
	{ name, base, language, facts, vocabulary }: Indexed,
	others: readonly Indexed[],
	random: SeededRandom,
): Promise<TrainingQuestion[]> {
	const questions: TrainingQuestion[] = [];
	// Most words of the name are new, so nothing in the documents can be meant by it.
	const isUnknown = (text: string) => {
		const terms = analyse(text, language);
		return terms.filter((term) => !vocabulary.has(term)).length * 2 > terms.length;
	};
	const foreign = others.flatMap((other) => other.facts);
	const attributes = [...new Set(foreign.map(({ attribute }) => attribute))].filter(isUnknown);
	const subjects = [...new Set(foreign.map(({ subject }) => subject))].filter(isUnknown);
	const add = async (kind: string, question: string, fact: Fact, hide: boolean) => {
		if (question === '') return;
		const found = await base.request(question, [], READ_PASSAGES);
		const request = hide ? { ...found, passages: found.passages.map((passage) => without(passage, fact)) } : found;
		const expected = { required: [[fact.value]], forbidden: fact.others };
		questions.push({ group: name, kind, isAnswerable: kind === 'generated', request, expected });
	};
	const share = Math.min(1, MAX_GENERATED / facts.length);
	for (const fact of facts) {
		if (!random.chance(share) || fact.value.length < MIN_VALUE_CHARACTERS) continue;
		const draw = random.next();
		if (draw < 0.55) await add('generated', questionFor(fact, language, random), fact, false);
		else if (draw < 0.7) await add('removed', questionFor(fact, language, random), fact, true);
		else if (draw < 0.82 && fact.attribute !== '' && attributes.length > 0) {
			const changed = { ...fact, attribute: random.pick(attributes) };
			await add('other attribute', questionFor(changed, language, random), fact, false);
		} else if (draw < 0.94 && fact.attribute !== '' && subjects.length > 0) {
			const changed = { ...fact, subject: random.pick(subjects) };
			await add('other subject', questionFor(changed, language, random), fact, false);
		} else if (foreign.length > 0 && draw > 0.9)
			await add('foreign', questionFor(random.pick(foreign), language, random), fact, false);
	}
	return questions;
}

/** Questions for a type of answer alone, and for the values of all rows of a table. */
async function subjectlessQuestions(
	{ name, base, language, readings }: Indexed,
	random: SeededRandom,
): Promise<TrainingQuestion[]> {
	const columns = readings.flatMap((reading) => columnQuestions(reading, language, random));
	const share = Math.min(1, MAX_COLUMN_QUESTIONS / columns.length);
	const questions: TrainingQuestion[] = [];
	for (const [kind, asked] of [
		['type alone', bareQuestions(base.passages, language)],
		['whole column', columns.filter(() => random.chance(share))],
	] as const) {
		for (const { question, required } of asked) {
			const request = await base.request(question, [], READ_PASSAGES);
			const isAnswerable = required.length > 0;
			questions.push({ group: name, kind, isAnswerable, request, expected: { required, forbidden: [] } });
		}
	}
	return questions;
}

/** The passage without the lines or the sentence that has the value. */
function without(passage: QuotablePassage, { words, value }: Fact): QuotablePassage {
	if (!passage.text.includes(value)) return passage;
	return words === value ? { ...passage, text: passage.text.replaceAll(value, '') } : withoutLines(passage, [value]);
}

/** The passage without the lines that have one of the values; the same passage if there is none. */
function withoutLines(passage: QuotablePassage, values: readonly string[]): QuotablePassage {
	const lines = passage.text.split('\n');
	const kept = lines.filter((line) => !values.some((value) => hasValue(line, value)));
	return kept.length === lines.length ? passage : { ...passage, text: kept.join('\n') };
}
