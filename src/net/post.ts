import type { Dispatcher } from 'undici';
import { AppError } from '../base/index.ts';
import { Ending } from './ending.ts';
import { connectionFailure, drop, flatHeaders, send } from './exchange.ts';
import type { Guard } from './guard.ts';

/** What is posted, and how the exchange is bounded. */
export interface PostOptions {
	/** By lower-case name. */
	headers: Readonly<Record<string, string>>;
	body: string | Uint8Array;
	/** Milliseconds for everything: name, connection, TLS, the answer and what is read of its body. */
	timeoutMs: number;
	/** Bytes of the answer's body that are read; what follows is not waited for. */
	maxBodyBytes: number;
	/** Ends it; it then rejects with the signal's reason. */
	signal?: AbortSignal;
	/** Only https (unless private networks are allowed). */
	httpsOnly?: boolean;
}

/** What came of a POST. That there was no answer is an outcome too. */
export interface PostOutcome {
	/** Of the answer, a redirect's own included; null where there was none. */
	status: number | null;
	/** By lower-case name; repeated headers are joined by a comma. */
	headers: Readonly<Record<string, string>>;
	/** The beginning of the answer's body, read as UTF-8. */
	body: string;
	/** Whole milliseconds that all of it took. */
	duration_ms: number;
	/** Why there was no answer in time, as a sentence; null where there was one, whatever its status. */
	error: string | null;
}

/** The deadline has passed. */
class TooLate extends Error {}

/**
 * Sends a POST through the guard, once, and follows no redirect.
 * @throws only the reason of the caller's signal
 */
export async function post(
	guard: Guard,
	dispatcher: Dispatcher,
	url: string,
	options: PostOptions,
): Promise<PostOutcome> {
	const { timeoutMs, maxBodyBytes, signal, httpsOnly = false } = options;
	const started = performance.now();
	const ending = new Ending(timeoutMs, signal, () => new TooLate(`No answer within ${timeoutMs / 1_000} seconds.`));
	const answer = { status: null as number | null, headers: {}, body: '', error: null as string | null };
	try {
		const target = guard.checkUrl(url, { httpsOnly });
		const headers = { 'user-agent': 'Parley', accept: '*/*', 'accept-encoding': 'identity', ...options.headers };
		const response = await send(dispatcher, { url: target, method: 'POST', headers, body: options.body }, ending);
		answer.status = response.statusCode;
		answer.headers = flatHeaders(response);
		answer.body = await beginning(response.body, maxBodyBytes);
		// The body may have ended by what ended the exchange.
		if (ending.reason !== undefined) throw ending.reason;
	} catch (thrown) {
		answer.error = sentenceOf(ending.reason ?? thrown, url);
	} finally {
		ending.now();
	}
	signal?.throwIfAborted();
	return { ...answer, duration_ms: Math.round(performance.now() - started) };
}

/** The first bytes of a body; where it breaks off, those before. Whoever answered with a status has answered. */
async function beginning(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<string> {
	const decoder = new TextDecoder();
	let text = '';
	let room = maxBytes;
	try {
		for await (const chunk of body as AsyncIterable<Buffer>) {
			text += decoder.decode(chunk.subarray(0, room), { stream: true });
			room -= chunk.length;
			if (room <= 0) break;
		}
	} catch {
		// The status is known, and that is what counts.
	} finally {
		drop(body);
	}
	return text;
}

function sentenceOf(thrown: unknown, url: string): string {
	if (thrown instanceof AppError || thrown instanceof TooLate) return thrown.message;
	const target = new URL(url);
	return connectionFailure(thrown, target) ?? `The connection to ${target.host} broke off before there was an answer.`;
}
