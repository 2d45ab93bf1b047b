import type { Network } from '../../net/index.ts';
import { MAX_RESULT_BYTES, truncateResult } from '../result-text.ts';
import type { SecretRedactor } from '../secret-redactor.ts';
import { ToolFailure } from '../tool-failure.ts';
import type { ApiRequest } from './api-request.ts';
import { type ResponsePrefix, responseText } from './response-text.ts';

/** Bytes of a response that are read: more than the result holds, because redacted secrets become shorter. */
const MAX_READ_BYTES = 2 * MAX_RESULT_BYTES;

const HTTPS = { httpsOnly: true } as const;

/** The response of an API. */
export interface ApiResult {
	status: number;
	/** The result for the model. */
	result: string;
}

/**
 * Calls an API once. No redirect is followed: it would send the credentials to another URL.
 * @param signal aborts the whole call
 * @throws ToolFailure; AppError of the network; the signal's reason
 */
export async function callApi(
	network: Pick<Network, 'fetch'>,
	{ method, url, headers, body }: ApiRequest,
	redactor: SecretRedactor,
	signal: AbortSignal,
): Promise<ApiResult> {
	const response = await network.fetch(url, { method, headers, ...(body === null ? {} : { body }), signal }, HTTPS);
	const responsePrefix = await readResponsePrefix(response, signal);
	const { status } = responsePrefix;
	if (status < 200 || status > 299) throw statusFailure(responsePrefix, redactor);
	const text = redactResponse(responseText(responsePrefix), responsePrefix, redactor);
	const emptyResult = `The API answered with status ${status} and no content.`;
	return { status, result: text === '' ? emptyResult : truncateResult(text, responsePrefix.isTruncated) };
}

/** A truncated text may end within a secret, which could not be redacted: that end is removed. */
function redactResponse(text: string, { isTruncated }: ResponsePrefix, redactor: SecretRedactor): string {
	const redacted = redactor.redact(text);
	return isTruncated ? redacted.slice(0, Math.max(0, redacted.length - redactor.maxSecretLength)) : redacted;
}

function statusFailure(response: ResponsePrefix, redactor: SecretRedactor): ToolFailure {
	const { status } = response;
	const redirects = status >= 300 && status <= 399 ? ', and redirects are not followed' : '';
	let detail = '';
	try {
		detail = redactResponse(responseText(response), response, redactor);
	} catch {
		// The status alone reports the failure: the body is not readable.
	}
	return new ToolFailure('bad_status', `The API answered with status ${status}${redirects}.`, { detail, status });
}

/** The beginning of a response, without waiting for its end. */
async function readResponsePrefix(response: Response, signal: AbortSignal): Promise<ResponsePrefix> {
	const chunks: Uint8Array[] = [];
	let size = 0;
	try {
		if (response.body) {
			// Leaving the loop cancels the body, and with it the connection.
			for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
				chunks.push(chunk);
				size += chunk.length;
				if (size > MAX_READ_BYTES) break;
			}
		}
	} catch (cause) {
		if (signal.aborted) throw signal.reason;
		const { status } = response;
		throw new ToolFailure('unreachable', 'The connection broke off before the answer was complete.', { status, cause });
	}
	const bytes = Buffer.concat(chunks, Math.min(size, MAX_READ_BYTES));
	return {
		status: response.status,
		contentType: response.headers.get('content-type'),
		bytes,
		isTruncated: size > MAX_READ_BYTES,
	};
}
