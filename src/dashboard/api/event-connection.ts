import { createParser } from 'eventsource-parser';
import { ApiError } from './api-error.ts';
import { api } from './client.ts';

/** An event of the workspace's log, or a notice, as it arrives. */
export interface IncomingEvent {
	type: string;
	data: unknown;
}

export interface EventConnectionOptions {
	onEvent(event: IncomingEvent): void;
	/** @param isFirst false after an interruption, in which notices were missed */
	onOpen(isFirst: boolean): void;
	/** The connection broke, or could not be made. It is tried again. */
	onLost(): void;
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
/** The server sends a comment every 15 seconds. After this long without any (ms), the connection is dead. */
const SILENCE_MS = 40_000;
/** A tab in the background gives its connection back after this long (ms): a browser has only six for one server. */
const HIDDEN_MS = 5 * 60_000;

/**
 * Follows the event log of the workspace, for as long as the signal is not aborted:
 * 1. It connects, from the last event that it has seen.
 * 2. It passes on events until the connection breaks.
 * 3. It waits, longer each time, and connects again. A browser that is back online ends the wait.
 * It ends for good where the server refuses it: the session has ended, or its role may not read events.
 */
export async function followEvents(options: EventConnectionOptions, signal: AbortSignal): Promise<void> {
	const position: Position = { lastEventId: null, isFirst: true };
	for (let failures = 0; !signal.aborted; ) {
		await untilVisible(signal);
		if (signal.aborted) return;
		let minDelayMs = 0;
		try {
			await followOnce(position, signal, { ...options, onOpen: (isFirst) => (failures = onOpened(options, isFirst)) });
		} catch (error) {
			if (error instanceof ApiError) {
				if (error.status === 401 || error.status === 403) return;
				// The log is another one: what was shown is read again, and the log is followed from now on.
				if (error.code === 'invalid_cursor') position.lastEventId = null;
				minDelayMs = (error.retryAfter ?? 0) * 1_000;
			}
		}
		if (signal.aborted) return;
		// The first attempt to connect again is soon: only after it has failed is the connection lost.
		if (failures > 0 && document.visibilityState === 'visible') options.onLost();
		await pause(Math.max(delayAfter(failures++), minDelayMs), signal);
	}
}

interface Position {
	/** Null: from now on. */
	lastEventId: string | null;
	isFirst: boolean;
}

function onOpened(options: EventConnectionOptions, isFirst: boolean): 0 {
	options.onOpen(isFirst);
	return 0;
}

/** One connection, to its end. @throws ApiError, TypeError */
async function followOnce(position: Position, signal: AbortSignal, options: EventConnectionOptions): Promise<void> {
	const ending = new AbortController();
	const timers = watchConnection(ending, signal);
	try {
		const { data } = await api.GET('/api/v1/events', {
			params: { query: { stream: true, notices: true } },
			headers: position.lastEventId === null ? {} : { 'Last-Event-ID': position.lastEventId },
			parseAs: 'stream',
			signal: ending.signal,
		});
		options.onOpen(position.isFirst);
		position.isFirst = false;
		const parser = createParser({
			onEvent: ({ id, data }) => {
				if (id !== undefined) position.lastEventId = id;
				options.onEvent(JSON.parse(data) as IncomingEvent);
			},
		});
		const text = (data as unknown as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(new TextDecoderStream());
		for (const reader = text.getReader(); ; ) {
			const { done, value } = await reader.read();
			if (done) return;
			timers.heard();
			position.lastEventId ??= startOf(value) ?? null;
			parser.feed(value);
		}
	} finally {
		timers.stop();
	}
}

/** The position from which a stream starts: an id without data, which parsers do not report. */
function startOf(text: string): string | undefined {
	return /^id: (\S+)\n\n/m.exec(text)?.[1];
}

/** Ends a connection that is silent, whose tab is in the background for long, or whose signal aborts. */
function watchConnection(ending: AbortController, signal: AbortSignal): { heard(): void; stop(): void } {
	const end = () => ending.abort(new TypeError('The connection was ended.'));
	let silence = setTimeout(end, SILENCE_MS);
	let hidden: ReturnType<typeof setTimeout> | undefined;
	const onVisibility = () => {
		clearTimeout(hidden);
		if (document.visibilityState === 'hidden') hidden = setTimeout(end, HIDDEN_MS);
	};
	document.addEventListener('visibilitychange', onVisibility);
	signal.addEventListener('abort', end);
	onVisibility();
	return {
		heard() {
			clearTimeout(silence);
			silence = setTimeout(end, SILENCE_MS);
		},
		stop() {
			clearTimeout(silence);
			clearTimeout(hidden);
			document.removeEventListener('visibilitychange', onVisibility);
			signal.removeEventListener('abort', end);
			end();
		},
	};
}

/** Doubles each time. Half of it is random, so that tabs that lost their server together do not all return together. */
export function delayAfter(failures: number, random: () => number = Math.random): number {
	return Math.min(FIRST_DELAY_MS * 2 ** failures, MAX_DELAY_MS) * (0.5 + random() / 2);
}

/** Waits; ends early where the signal aborts, or the browser is back online. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		const end = () => {
			clearTimeout(timer);
			removeEventListener('online', end);
			signal.removeEventListener('abort', end);
			resolve();
		};
		const timer = setTimeout(end, ms);
		addEventListener('online', end);
		signal.addEventListener('abort', end);
	});
}

/** Waits until the tab is in the foreground, or the signal aborts. */
function untilVisible(signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		const check = () => {
			if (document.visibilityState === 'hidden' && !signal.aborted) return;
			document.removeEventListener('visibilitychange', check);
			signal.removeEventListener('abort', check);
			resolve();
		};
		document.addEventListener('visibilitychange', check);
		signal.addEventListener('abort', check);
		check();
	});
}
