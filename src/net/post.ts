import type { Dispatcher } from 'undici';
import { AppError } from '../base/index.ts';
import { ExchangeAbort } from './exchange-abort.ts';
import { ResponseLimitError } from './response-limit.ts';
import { connectionFailure, discardBody, flatHeaders, sendRequest } from './send-request.ts';
import type { SsrfGuard } from './ssrf-guard.ts';

/** The request of a POST, and its limits. */
export interface PostOptions {
	/** By lower-case name. */
	headers: Readonly<Record<string, string>>;
	body: string | Uint8Array;
	/** Milliseconds for the whole exchange: DNS, connection, TLS, the response and the part of its body that is read. */
	timeoutMs: number;
	/** Bytes of the response's body that are read. The exchange does not wait for the rest. */
	maxBodyBytes: number;
	/** Aborts the exchange, which then rejects with the signal's reason. */
	signal?: AbortSignal;
	/** Only https (unless private networks are allowed). */
	httpsOnly?: boolean;
}

/** The outcome of a POST, with or without a response. */
export interface PostOutcome {
	/** The status of the response, which may be a redirect; null without a response. */
	status: number | null;
	/** By lower-case name; repeated headers are joined by a comma. */
	headers: Readonly<Record<string, string>>;
	/** The beginning of the response's body, decoded as UTF-8. */
	body: string;
	/** Duration of the whole exchange in whole milliseconds. */
	duration_ms: number;
	/** Why there was no response in time, as a sentence; null with a response of any status. */
	error: string | null;
}

/** The deadline has passed. */
class PostTimeoutError extends Error {}

/**
 * Sends a POST through the guard, once, and follows no redirect.
 * @throws only the reason of the caller's signal
 */
export async function post(
	guard: SsrfGuard,
	dispatcher: Dispatcher,
	url: string,
	options: PostOptions,
): Promise<PostOutcome> {
	const { timeoutMs, maxBodyBytes, signal, httpsOnly = false } = options;
	const started = performance.now();
	const abort = new ExchangeAbort(
		timeoutMs,
		signal,
		() => new PostTimeoutError(`No response within ${timeoutMs / 1_000} seconds.`),
	);
	const outcome = { status: null as number | null, headers: {}, body: '', error: null as string | null };
	try {
		const target = guard.checkUrl(url, { httpsOnly });
		const headers = { 'user-agent': 'Parley', accept: '*/*', 'accept-encoding': 'identity', ...options.headers };
		const response = await sendRequest(dispatcher, { url: target, method: 'POST', headers, body: options.body }, abort);
		outcome.status = response.statusCode;
		outcome.headers = flatHeaders(response);
		outcome.body = await firstText(response.body, maxBodyBytes);
		// An abort of the exchange ends the body without an error.
		if (abort.reason !== undefined) throw abort.reason;
	} catch (thrown) {
		outcome.error = sentenceOf(abort.reason ?? thrown, url);
	} finally {
		abort.abort();
	}
	signal?.throwIfAborted();
	return { ...outcome, duration_ms: Math.round(performance.now() - started) };
}

/** The first bytes of a body, or fewer if it breaks off. The server has responded as soon as there is a status. */
async function firstText(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<string> {
	const decoder = new TextDecoder();
	let text = '';
	let remainingBytes = maxBytes;
	try {
		for await (const chunk of body as AsyncIterable<Buffer>) {
			text += decoder.decode(chunk.subarray(0, remainingBytes), { stream: true });
			remainingBytes -= chunk.length;
			if (remainingBytes <= 0) break;
		}
	} catch {
		// The status decides the outcome, and it is known.
	} finally {
		discardBody(body);
	}
	return text;
}

function sentenceOf(thrown: unknown, url: string): string {
	const hasSentence =
		thrown instanceof AppError || thrown instanceof PostTimeoutError || thrown instanceof ResponseLimitError;
	if (hasSentence) return thrown.message;
	const target = new URL(url);
	return connectionFailure(thrown, target) ?? `The connection to ${target.host} broke off before there was a response.`;
}
