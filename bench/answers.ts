/**
 * npm run bench -- answers [part…] [--held] [--set NAME] [--sets FOLDER]
 *
 * Measures the answers of the built-in model through the API of a server, and the search behind them. docs/retrieval.md explains
 * the figures. The parts, all by default:
 *
 *   sets      questions of data/question-sets, judged by bench/answers/judge.ts
 *   squad     questions about paragraphs of articles: the gold span, the cited passage, refusals
 *   mtrag     dialogues: the search for each question, the cited passages, refusals
 *   mtrag-un  the same with more unanswerable questions
 *   holds     how long an answer to a question of data/question-sets holds the main thread, in this process
 *   ir        nDCG@10 and answerability on the collections of `npm run bench -- retrieval`
 *
 * --held measures the held half of the question sets too. --set NAME asks the questions of one set and prints all answers.
 * --sets FOLDER reads other question sets. The answers of each part, and the 30 worst, are written to .build/bench/answers.
 * Parts without their data in ../shared/data are left out.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startServer } from '../test/support/server-process.ts';
import type { CreateAssistant } from './answers/assistant.ts';
import { type DialogueGoals, dialogueFailures, dialogueFigures, replayDialogues } from './answers/dialogues.ts';
import { DocumentAssistant } from './answers/document-assistant.ts';
import { holdFigures, measureHolds } from './answers/holds.ts';
import { askSet, type JudgedAnswer } from './answers/judged-sets.ts';
import { readQaCollection } from './answers/qa-collections.ts';
import { type Half, QUESTION_SETS, readQuestionSets } from './answers/question-sets.ts';
import { setFigures } from './answers/set-figures.ts';
import { askSpans, spanFailures, spanFigures } from './answers/spans.ts';
import { type TranscriptEntry, transcript, transcriptEntry, worstAnswers } from './answers/transcript.ts';
import { FIGURES, Report } from './report/report.ts';
import { collectionFigures } from './retrieval/collection-figures.ts';
import { COLLECTIONS, readCollection } from './retrieval/collections.ts';

const FOLDER = join(FIGURES, 'answers');
const WORST = 30;
const DIALOGUE_GOALS: Record<'mtrag' | 'mtrag-un', DialogueGoals> = {
	mtrag: { laterNdcg: 0.575, relevantCited: 78 },
	'mtrag-un': { laterNdcg: 0.885, relevantCited: 90 },
};
const PARTS: Record<string, (create: CreateAssistant) => Promise<void>> = {
	sets: measureSets,
	squad: measureSpans,
	mtrag: (create) => measureDialogues(create, 'mtrag'),
	'mtrag-un': (create) => measureDialogues(create, 'mtrag-un'),
	holds: measureOpenHolds,
	ir: measureCollections,
};

const { positionals, values: options } = parseArgs({
	allowPositionals: true,
	options: {
		held: { type: 'boolean', default: false },
		set: { type: 'string' },
		sets: { type: 'string', default: QUESTION_SETS },
	},
});
const wanted = options.set === undefined ? positionals : ['sets'];
for (const part of wanted) {
	if (!(part in PARTS)) throw new Error(`There is no part ${part}. There are: ${Object.keys(PARTS).join(', ')}.`);
}
const report = new Report('answers');
await rm(FOLDER, { recursive: true, force: true });
await mkdir(FOLDER, { recursive: true });
{
	await using server = await startServer();
	for (const [part, measure] of Object.entries(PARTS)) {
		if (wanted.length > 0 && !wanted.includes(part)) continue;
		const started = performance.now();
		await measure((name, documents) => DocumentAssistant.create(server, name, documents));
		console.log(`${part}: ${Math.round((performance.now() - started) / 1000)} s`);
	}
}
await report.close();
console.log(`The answers are in ${FOLDER}.`);

async function measureSets(create: CreateAssistant): Promise<void> {
	const halves: Half[] = options.held ? ['open', 'held'] : ['open'];
	for (const half of halves) {
		const { sets, skipped } = readQuestionSets(half, options.sets);
		for (const sentence of skipped) console.log(sentence);
		const chosen = sets.filter(({ name }) => options.set === undefined || name === options.set);
		if (chosen.length === 0) console.log(`There are no question sets to measure in ${join(options.sets, half)}.`);
		const answers: JudgedAnswer[] = [];
		for (const set of chosen) {
			const asked = await askSet(create, set);
			for (const reason of asked.unread) console.log(`${half}/${set.name}: not indexed: ${reason}`);
			const text = await writeTranscript(`${half}-${set.name}`, asked.answers.map(transcriptEntry));
			if (options.set !== undefined) console.log(text);
			answers.push(...asked.answers);
		}
		report.add(...setFigures(half, answers));
		await writeTranscript(`${half}-worst`, worstAnswers(answers, WORST).map(transcriptEntry));
	}
}

async function measureSpans(create: CreateAssistant): Promise<void> {
	const collection = readQaCollection('squad');
	if (collection === undefined) return console.log('squad is skipped: ../shared/data/qa is not here.');
	const answers = await askSpans(create, collection);
	report.add(...spanFigures('squad', answers));
	await writeTranscript('squad-failures', spanFailures(answers));
}

async function measureDialogues(create: CreateAssistant, name: 'mtrag' | 'mtrag-un'): Promise<void> {
	const collection = readQaCollection(name);
	if (collection === undefined) return console.log(`${name} is skipped: ../shared/data/qa is not here.`);
	const answers = await replayDialogues(create, collection);
	report.add(...dialogueFigures(name, answers, DIALOGUE_GOALS[name]));
	await writeTranscript(`${name}-failures`, dialogueFailures(answers));
}

async function measureOpenHolds(): Promise<void> {
	report.add(...holdFigures('open', await measureHolds(readQuestionSets('open', options.sets).sets)));
}

async function measureCollections(): Promise<void> {
	const collections = COLLECTIONS.map(readCollection).filter((collection) => collection !== undefined);
	if (collections.length < COLLECTIONS.length)
		console.log('ir is skipped or incomplete: ../shared/data/ir is not here.');
	report.add(...(await collectionFigures(collections, ['hybrid'])));
}

/** @returns the text of the file */
async function writeTranscript(name: string, entries: readonly TranscriptEntry[]): Promise<string> {
	const text = transcript(`${name}: ${entries.length} answers`, entries);
	await writeFile(join(FOLDER, `${name}.md`), text);
	return text;
}
