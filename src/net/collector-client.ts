import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Agent, request } from 'undici';
import { anySignal, messageOf, rejectOnAbort, retryAfterMs, sleep } from '../base/index.ts';
import { connectionFailure } from './send-request.ts';

/** After these the same export may succeed (https://opentelemetry.io/docs/specs/otlp, "Retryable Response Codes"). */
const TEMPORARY_STATUS: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Codes of a connection that may succeed later: not of a certificate, and not of an export that is wrong. */
const TEMPORARY_FAILURE =
	/^(ECONN|EPIPE|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|UND_ERR_(SOCKET|CONNECT_TIMEOUT|HEADERS_TIMEOUT)$)/;
const MAX_ATTEMPTS = 5;
/** The first wait before another attempt (ms); each further one is twice as long. */
const FIRST_WAIT_MS = 500;
const CONNECT_TIMEOUT_MS = 10_000;
/** Most responses are empty, or say what was rejected. */
const MAX_RESPONSE_BYTES = 64 * 1024;
/** Characters of a response in an error. */
const MAX_REASON_CHARACTERS = 300;

const compress = promisify(gzip);

/** Where spans are sent, and how. */
export interface CollectorSettings {
	url: string;
	headers: Readonly<Record<string, string>>;
	/** Milliseconds for a request with all its attempts. */
	timeoutMs: number;
	isCompressed: boolean;
	/** PEM: trusted certificates, and what this server shows the collector. */
	tls: { ca?: Buffer; key?: Buffer; cert?: Buffer };
}

/** An attempt to send spans has failed. */
class SendError extends Error {
	/** Whether another attempt may succeed. */
	readonly isTemporary: boolean;
	/** The wait that the collector asks for; null: none. */
	readonly waitMs: number | null;

	constructor(message: string, isTemporary: boolean, waitMs: number | null = null) {
		super(message);
		this.name = 'SendError';
		this.isTemporary = isTemporary;
		this.waitMs = waitMs;
	}
}

/** Sends spans to the collector that the operator names, by OTLP over HTTP in protobuf. */
export class CollectorClient implements AsyncDisposable {
	readonly #settings: CollectorSettings;
	readonly #agent: Agent;
	readonly #lastAttempts = new AbortController();
	readonly #closed = new AbortController();

	constructor(settings: CollectorSettings) {
		this.#settings = settings;
		const timeout = Math.min(CONNECT_TIMEOUT_MS, settings.timeoutMs);
		this.#agent = new Agent({ connections: 1, connect: { ...settings.tls, timeout } });
	}

	/**
	 * Sends an export, and again where the collector is busy or away for a moment.
	 * @param body an `ExportTraceServiceRequest`
	 * @throws Error that says why the collector has not taken all of it
	 */
	async send(body: Uint8Array): Promise<void> {
		const { timeoutMs, isCompressed } = this.#settings;
		const endsAt = performance.now() + timeoutMs;
		const signal = anySignal(this.#closed.signal, AbortSignal.timeout(timeoutMs));
		const sent = isCompressed ? await compress(body) : body;
		for (let attempt = 1, ownWaitMs = FIRST_WAIT_MS; ; attempt++, ownWaitMs *= 2) {
			try {
				return await this.#sendOnce(sent, signal);
			} catch (error) {
				if (!(error instanceof SendError) || !error.isTemporary || attempt === MAX_ATTEMPTS) throw error;
				// Servers that were refused together must not come back together.
				const waitMs = error.waitMs ?? ownWaitMs * (0.5 + Math.random());
				if (performance.now() + waitMs > endsAt) throw error;
				await sleep(waitMs, this.#lastAttempts.signal);
				if (this.#lastAttempts.signal.aborted) throw error;
			}
		}
	}

	/** From now on nothing is sent again: the server ends soon. */
	stopRepeating(): void {
		this.#lastAttempts.abort();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.stopRepeating();
		this.#closed.abort(new SendError('The server ends before the collector has answered.', false));
		await this.#agent.destroy();
	}

	async #sendOnce(body: Uint8Array, signal: AbortSignal): Promise<void> {
		const { url, headers, isCompressed } = this.#settings;
		const response = await rejectOnAbort(
			request(url, {
				...{ method: 'POST', body, signal, dispatcher: this.#agent },
				headers: {
					...headers,
					'content-type': 'application/x-protobuf',
					...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
				},
			}),
			signal,
		).catch((error) => {
			if (this.#closed.signal.aborted) throw this.#closed.signal.reason;
			if (signal.aborted) throw new SendError('The collector did not answer in time.', false);
			const sentence = connectionFailure(error, new URL(url)) ?? messageOf(error);
			throw new SendError(sentence, TEMPORARY_FAILURE.test(String(error.code)));
		});
		const { statusCode } = response;
		const answer = await firstBytes(response.body);
		if (statusCode < 200 || statusCode > 299) {
			const waitMs = retryAfterMs([response.headers['retry-after'] ?? []].flat()[0], Date.now());
			const sentence = `The collector answered with status ${statusCode}${reasonIn(answer)}.`;
			throw new SendError(sentence, TEMPORARY_STATUS.has(statusCode), waitMs);
		}
		if (rejectsSpans(answer))
			throw new SendError(`The collector rejected some of the spans${reasonIn(answer)}.`, false);
	}
}

/** Reads a body, or the beginning where it is too long or breaks off. */
async function firstBytes(body: Readable): Promise<Buffer> {
	const chunks: Buffer[] = [];
	let length = 0;
	try {
		for await (const chunk of body) {
			chunks.push(chunk);
			length += chunk.length;
			if (length > MAX_RESPONSE_BYTES) break;
		}
	} catch {
		// The status has been received.
	}
	return Buffer.concat(chunks);
}

/** Whether an `ExportTraceServiceResponse` has a `partial_success` (field 1) with `rejected_spans` (its field 1, not written if it is 0). */
function rejectsSpans(response: Buffer): boolean {
	if (response[0] !== 0x0a) return false;
	// Behind the length, whose last byte is below 128.
	let at = 1;
	while ((response[at] ?? 0) > 0x7f) at++;
	return response[at + 1] === 0x08;
}

/** What a response says, as text or in a message of Protocol Buffers, for the end of a sentence; empty: nothing. */
function reasonIn(response: Buffer): string {
	const text = response
		.toString()
		.replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]+/gu, ' ')
		.trim();
	return text === '' ? '' : ` (${text.slice(0, MAX_REASON_CHARACTERS)})`;
}
