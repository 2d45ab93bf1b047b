import { type Dispatcher, fetch as undiciFetch } from 'undici';
import { AppError } from '../base/index.ts';
import { connectionFailure } from './send-request.ts';
import type { SsrfGuard, UrlRules } from './ssrf-guard.ts';

/**
 * The fetch of the Fetch Standard, except that it follows no redirect: a redirect is a response like any other. It has no
 * limits: the caller bounds the time by the signal, and the size while it reads the body.
 * @throws AppError `url_not_allowed` if the guard refuses the URL, `unavailable` if there is no response; the signal's
 * reason
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
		// The platform's fetch and undici's have incompatible types for the same values.
		const options = { ...init, dispatcher, redirect: 'manual' } as unknown as Parameters<typeof undiciFetch>[1];
		return (await undiciFetch(target, options)) as unknown as Response;
	} catch (thrown) {
		if (init.signal?.aborted) throw init.signal.reason;
		const cause = thrown instanceof TypeError ? (thrown.cause ?? thrown) : thrown;
		if (cause instanceof AppError) throw cause;
		const sentence =
			connectionFailure(cause, target) ?? `The connection to ${target.host} broke off before there was a response.`;
		throw new AppError('unavailable', sentence, { cause });
	}
}
