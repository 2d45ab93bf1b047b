import { durationOf, type ModelScript } from '../load/model-script.ts';

/** A load of streamed messages, each the first of its conversation. */
export interface MessageCase {
	name: string;
	script: ModelScript;
	/** Streams at once, at most. */
	streams: number;
	/** Messages that arrive each second, whether or not earlier ones have ended; null: the next as soon as one has ended. */
	arrivalsPerSecond: number | null;
	seconds: number;
	rounds: number;
	/** Whether the ceilings and the baseline are measured, too. */
	isCompared: boolean;
	goals: CaseGoals;
}

/** Bounds for Parley. Times are in milliseconds; what is compared is compared in the same run. */
export interface CaseGoals {
	/** First token and whole reply, as a multiple of the early ceiling's. */
	firstTokenP50?: number;
	firstTokenP95?: number;
	wholeReplyP50?: number;
	/** What is added to the model's own times. */
	addedFirstTokenP50?: number;
	addedFirstTokenP95?: number;
	addedWholeReplyP50?: number;
	/** Percent of the early ceiling's rate. */
	rate?: number;
	/** Percent of the rate that the model's pace allows. */
	possibleRate?: number;
	/** Processor time of a message, as a multiple of the ceiling's and of the baseline's. */
	processorOfCeiling?: number;
	processorOfBaseline?: number;
}

const INSTANT: ModelScript = { firstTokenMs: 0, tokenIntervalMs: 0, tokens: 40 };
const AFTER_20_MS: ModelScript = { firstTokenMs: 20, tokenIntervalMs: 0, tokens: 40 };
const FAST: ModelScript = { firstTokenMs: 1, tokenIntervalMs: 5, tokens: 40 };
/** About as fast as real providers. */
const TYPICAL: ModelScript = { firstTokenMs: 5, tokenIntervalMs: 50, tokens: 60 };

const COMPARED = { arrivalsPerSecond: null, seconds: 3, rounds: 5, isCompared: true };

/**
 * The bounds of the times with an instant model are 1.5, 3 and 2.5 ms on a machine on which the early ceiling takes .58, .96 and .89 ms:
 * here they are multiples of it.
 */
export const CASES: MessageCase[] = [
	{
		...COMPARED,
		name: '1 connection, instant model',
		script: INSTANT,
		streams: 1,
		goals: { firstTokenP50: 2.6, firstTokenP95: 3.1, wholeReplyP50: 2.8 },
	},
	{
		...COMPARED,
		name: '1 connection, first token after 20 ms',
		script: AFTER_20_MS,
		streams: 1,
		goals: { addedFirstTokenP50: 0.3, addedFirstTokenP95: 1.5 },
	},
	{
		...COMPARED,
		name: '10 connections, instant model',
		script: INSTANT,
		streams: 10,
		goals: { rate: 80, processorOfCeiling: 1.4, processorOfBaseline: 1.1 },
	},
	{
		...COMPARED,
		name: '100 connections, instant model',
		script: INSTANT,
		streams: 100,
		goals: { rate: 85, processorOfCeiling: 1.4, processorOfBaseline: 1.1 },
	},
	{
		...COMPARED,
		name: '100 streams, 5 ms a token',
		script: FAST,
		streams: 100,
		goals: { possibleRate: 97, firstTokenP95: 1.54, addedWholeReplyP50: 8, processorOfCeiling: 1.2 },
	},
	{
		name: '200 messages a second, 5 ms a token',
		script: FAST,
		streams: 1000,
		arrivalsPerSecond: 200,
		seconds: 3,
		rounds: 3,
		isCompared: true,
		goals: {},
	},
	{
		name: '1,000 streams, 50 ms a token',
		script: TYPICAL,
		streams: 1000,
		arrivalsPerSecond: null,
		seconds: 5,
		rounds: 2,
		isCompared: false,
		goals: { addedFirstTokenP95: 60 },
	},
];

/** Before the measurement: a cold server takes several times as long for each token. */
export const WARM_UP: Pick<MessageCase, 'script' | 'streams' | 'seconds'> = { script: FAST, streams: 50, seconds: 4 };

/** The case that a profile shows: the first whose name has the words, without comparisons. */
export function profiledCase(words = '100 connections'): MessageCase {
	const named = CASES.find(({ name }) => name.includes(words));
	if (named === undefined) throw new Error(`No case has the words ${words}.`);
	return { ...named, seconds: 10, rounds: 1, isCompared: false, goals: {} };
}

/** Replies a second that the model's pace allows; null if it has none. */
export function possibleRate({ script, streams, arrivalsPerSecond }: MessageCase): number | null {
	if (arrivalsPerSecond !== null) return arrivalsPerSecond;
	const durationMs = durationOf(script);
	return durationMs === 0 ? null : (streams * 1000) / durationMs;
}
