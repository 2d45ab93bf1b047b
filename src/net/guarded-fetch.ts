import { type Dispatcher, fetch as undiciFetch } from 'undici';
import { AppError } from '../base/index.ts';
import { connectionFailure } from './send-request.ts';
import type { SsrfGuard, UrlRules } from './ssrf-guard.ts';

/**
 * A fetch as the Fetch Standard has it, except that it follows no redirect: each is an answer like any other. It has no
 * limits of its own: the signal is what bounds it in time, whoever reads the body bounds it in size.
 * @throws AppError `url_not_allowed` where the guard refuses, `unavailable` where there is no answer; the signal's reason
 */
export async function guardedFetch(
	guard: SsrfGuard,
	dispatcher: Dispatcher,
	url: string | URL,
	init: RequestInit,
	rules?: UrlRules,
): Promise<Response> {
	const target = guard.checkUrl(String(url), rules);
	try {
		// The types of the platform's fetch and of undici's own tell apart what is the same.
		const options = { ...init, dispatcher, redirect: 'manual' } as unknown as Parameters<typeof undiciFetch>[1];
		return (await undiciFetch(target, options)) as unknown as Response;
	} catch (thrown) {
		if (init.signal?.aborted) throw init.signal.reason;
		const cause = thrown instanceof TypeError ? (thrown.cause ?? thrown) : thrown;
		if (cause instanceof AppError) throw cause;
		const sentence =
			connectionFailure(cause, target) ?? `The connection to ${target.host} broke off before there was an answer.`;
		throw new AppError('unavailable', sentence, { cause });
	}
}
