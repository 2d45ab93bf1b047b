import type { ApiToolConfig } from '../../contract/index.ts';
import type { Network } from '../../net/index.ts';
import { Filling } from '../placeholders.ts';
import { cutResult, MAX_RESULT_BYTES } from '../result-text.ts';
import type { SecretWords } from '../secret-words.ts';
import { ToolFailure } from '../tool-failure.ts';
import { type AnswerHead, answerText } from './answer-text.ts';
import { filledBody } from './fill-body.ts';
import { filledHeaders } from './fill-headers.ts';
import { filledUrl } from './fill-url.ts';

/** Bytes of an answer that are read: more than is told, because secrets become shorter when they are hidden. */
const READ_BYTES = 2 * MAX_RESULT_BYTES;

const HTTPS = { httpsOnly: true } as const;

/** What an API answered. */
export interface ApiAnswer {
	status: number;
	/** What the model is told. */
	result: string;
}

/**
 * Calls an API once, with arguments that fit its parameters. No redirect is followed: it would take the credentials along.
 * @param config opened
 * @param key tells this call from all others, and a repeat of it from a new one
 * @param signal the end of the whole call
 * @throws ToolFailure; AppError of the network; the signal's reason
 */
export async function callApi(
	network: Pick<Network, 'fetch'>,
	config: ApiToolConfig,
	words: SecretWords,
	args: Record<string, unknown>,
	key: string,
	signal: AbortSignal,
): Promise<ApiAnswer> {
	const filling = new Filling(config.parameters, args);
	const body = filledBody(config.body, filling);
	const headers = { ...keyHeader(config, key), ...filledHeaders(config, filling) };
	const hasBody = config.body !== null && body !== undefined;
	const response = await network.fetch(
		filledUrl(config, filling),
		{
			method: config.method,
			headers: hasBody ? { 'content-type': 'application/json', ...headers } : headers,
			...(hasBody ? { body: JSON.stringify(body) } : {}),
			signal,
		},
		HTTPS,
	);
	const answer = await headOf(response, signal);
	const { status } = answer;
	if (status < 200 || status > 299) throw refusal(answer, words);
	const text = hidden(answerText(answer), answer, words);
	const nothing = `The API answered with status ${status} and no content.`;
	return { status, result: text === '' ? nothing : cutResult(text, answer.isPart) };
}

/**
 * The header by which an API can tell a repeat from a new call (draft-ietf-httpapi-idempotency-key-header). What only reads
 * (RFC 9110, 9.2.1) needs none.
 */
function keyHeader({ method }: Pick<ApiToolConfig, 'method'>, key: string): Record<string, string> {
	return method === 'GET' ? {} : { 'idempotency-key': key };
}

/** A text that was not read to its end may end within a secret, which is none to look for yet: that end is left out. */
function hidden(text: string, { isPart }: AnswerHead, words: SecretWords): string {
	const shown = words.hide(text);
	return isPart ? shown.slice(0, Math.max(0, shown.length - words.longest)) : shown;
}

function refusal(answer: AnswerHead, words: SecretWords): ToolFailure {
	const { status } = answer;
	const redirects = status >= 300 && status <= 399 ? ', and redirects are not followed' : '';
	let detail = '';
	try {
		detail = hidden(answerText(answer), answer, words);
	} catch {
		// That it failed is the answer; what else it says nobody could read.
	}
	return new ToolFailure('bad_status', `The API answered with status ${status}${redirects}.`, { detail, status });
}

/** The beginning of an answer; its end is not waited for. */
async function headOf(response: Response, signal: AbortSignal): Promise<AnswerHead> {
	const chunks: Uint8Array[] = [];
	let size = 0;
	try {
		if (response.body) {
			// Leaving the loop cancels the body, and with it the connection.
			for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
				chunks.push(chunk);
				size += chunk.length;
				if (size > READ_BYTES) break;
			}
		}
	} catch (cause) {
		if (signal.aborted) throw signal.reason;
		const { status } = response;
		throw new ToolFailure('unreachable', 'The connection broke off before the answer was complete.', { status, cause });
	}
	const bytes = Buffer.concat(chunks, Math.min(size, READ_BYTES));
	return {
		status: response.status,
		contentType: response.headers.get('content-type'),
		bytes,
		isPart: size > READ_BYTES,
	};
}
