import { AppError, boundedErrorText, messageOf, retryAfterMs } from '../../base/index.ts';
import { ServiceError } from '../../net/index.ts';
import { reportedStatus } from './reported-status.ts';

/** Why a provider gave no answer, or only a part of one. */
export interface ProviderFailure {
	/** The sentence in the reply. It names neither the provider nor the model, because visitors see it. */
	sentence: string;
	/** Whether the same request may succeed a little later. */
	isTransient: boolean;
	/** Whether the provider is at fault. A justified refusal says nothing about its health. */
	isProviderFault: boolean;
	/** Which calls would fail alike: those to this model, or all calls to the provider. */
	scope: 'model' | 'provider';
	/** Milliseconds to wait before the next request, if the provider asks for that; null otherwise. */
	retryAfterMs: number | null;
	/** For the log. It may contain text of the provider. */
	detail: string;
	/** The HTTP status; null without one. */
	status: number | null;
	/** Whether the provider charges nothing: it refused the request, or did not get it. */
	isUncharged: boolean;
}

/** A failure of a provider as an error. */
export class ProviderError extends Error {
	override readonly name = 'ProviderError';
	readonly failure: ProviderFailure;

	constructor(failure: ProviderFailure, cause?: unknown) {
		super(failure.sentence, { cause });
		this.failure = failure;
	}
}

/** Sentences for the statuses that are not the fault of the provider. */
const REFUSAL_SENTENCES: Readonly<Record<number, string>> = {
	400: 'The model provider did not accept the request.',
	401: "The model provider did not accept this server's key.",
	402: 'The model provider asks for payment.',
	403: "The model provider did not permit the request with this server's key.",
	404: 'The model provider does not know the model.',
	413: 'The request was too large for the model provider.',
	422: 'The model provider did not accept the request.',
};

/** A gateway has stopped waiting for the provider, which may go on with the answer. */
const GATEWAY_TIMEOUTS = new Set([504, 524]);
const TRANSIENT_STATUSES = new Set([408, 409, 425, 429]);
const CONNECTION_LOST_SENTENCE = 'The connection to the model provider broke off before the answer was complete.';

/** Makes a failure from its sentence. */
export function providerError(sentence: string, more: Partial<ProviderFailure> = {}): ProviderError {
	return new ProviderError({
		sentence,
		isTransient: false,
		isProviderFault: true,
		scope: 'model',
		retryAfterMs: null,
		detail: sentence,
		status: null,
		isUncharged: false,
		...more,
	});
}

/** The failure of a stream that ends without an error, but before the end of its answer. */
export function brokeOff(): ProviderError {
	return providerError(CONNECTION_LOST_SENTENCE);
}

/**
 * Classifies a thrown value.
 * @param now milliseconds since the epoch, for dates in a Retry-After
 * @param secret a text that the provider may repeat and the detail must not contain; null for none
 */
export function classifyFailure(thrown: unknown, now: number, secret: string | null): ProviderFailure {
	const failed = classify(thrown, now);
	return { ...failed, detail: redactDetail(failed.detail, secret) };
}

function classify(thrown: unknown, now: number): ProviderFailure {
	for (const error of causeChain(thrown)) {
		if (error instanceof ProviderError) return error.failure;
		if (error instanceof AppError) return { ...unclassified(error.message, thrown), isProviderFault: false };
		if (error instanceof ServiceError) return classifyServiceError(error, thrown);
	}
	const status = reportedStatus(thrown);
	if (status !== null) return classifyStatus(status, requestedDelayMs(thrown, now), thrown);
	return unclassified('The model provider reported an error.', thrown);
}

function unclassified(sentence: string, thrown: unknown): ProviderFailure {
	return {
		sentence,
		isTransient: false,
		isProviderFault: true,
		scope: 'model',
		retryAfterMs: null,
		detail: detailOf(thrown),
		status: null,
		isUncharged: false,
	};
}

function classifyServiceError({ kind, message }: ServiceError, thrown: unknown): ProviderFailure {
	const isUncharged = kind === 'unreachable' || kind === 'refused';
	const base = { ...unclassified(CONNECTION_LOST_SENTENCE, thrown), detail: message, isUncharged };
	switch (kind) {
		case 'unreachable':
			return { ...base, sentence: 'The model provider could not be reached.', isTransient: true, scope: 'provider' };
		case 'broken':
			return { ...base, isTransient: true };
		case 'late':
			return { ...base, sentence: 'The answer of the model took too long.' };
		case 'too_large':
			return { ...base, sentence: 'The answer of the model was too large.' };
		case 'refused':
			return { ...base, sentence: 'The model provider is not at the configured address.', scope: 'provider' };
	}
}

function classifyStatus(status: number, asked: number | null, thrown: unknown): ProviderFailure {
	const base = { ...unclassified('', thrown), status, retryAfterMs: asked, isUncharged: !GATEWAY_TIMEOUTS.has(status) };
	if (status === 429) {
		const sentence = 'The model provider takes no more requests for now.';
		return { ...base, sentence, isTransient: true, scope: 'provider' };
	}
	if (TRANSIENT_STATUSES.has(status) || status >= 500) {
		return { ...base, sentence: `The model provider failed with status ${status}.`, isTransient: true };
	}
	const sentence = REFUSAL_SENTENCES[status] ?? `The model provider answered with status ${status}.`;
	return { ...base, sentence, isProviderFault: false };
}

/** Retry-After (RFC 9110, 10.2.3) as milliseconds from now. OpenAI's `retry-after-ms` has precedence. */
function requestedDelayMs(thrown: unknown, now: number): number | null {
	const headers = (thrown as { responseHeaders?: Record<string, string | undefined> } | null)?.responseHeaders ?? {};
	const exact = headers['retry-after-ms']?.trim() ?? '';
	if (/^\d{1,9}(\.\d+)?$/.test(exact)) return Number(exact);
	return retryAfterMs(headers['retry-after'], now);
}

/** An error and its causes, outermost first. */
function causeChain(thrown: unknown): Error[] {
	const errors: Error[] = [];
	for (let at = thrown; at instanceof Error && errors.length < 8; at = at.cause) errors.push(at);
	return errors;
}

function detailOf(thrown: unknown): string {
	const { message } = (thrown ?? {}) as { message?: unknown };
	return typeof message === 'string' ? message : messageOf(thrown);
}

/** A text of the provider on one line, bounded, and without the key or anything that looks like a key. */
function redactDetail(detail: string, secret: string | null): string {
	return boundedErrorText(secret === null ? detail : detail.replaceAll(secret, '***'))
		.replace(/[\p{C}\s]+/gu, ' ')
		.replace(/\b(sk|key|pk)[-_][\w*.-]{6,}/gi, '***');
}
