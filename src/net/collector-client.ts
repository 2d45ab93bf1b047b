import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Agent, request } from 'undici';
import { anySignal, messageOf, rejectOnAbort, retryAfterMs, sleep } from '../base/index.ts';
import { connectionFailure } from './send-request.ts';

/** After these the same request may succeed (https://opentelemetry.io/docs/specs/otlp, "Retryable Response Codes"). */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Codes of a certificate that is not trusted: it will not be at once. */
const UNTRUSTED = /CERT|TLS/;
const MAX_ATTEMPTS = 5;
/** The first wait before another attempt (ms); each further one is twice as long. */
const FIRST_WAIT_MS = 500;
/** Of a response, which is empty or says what was rejected. */
const MAX_RESPONSE_BYTES = 64 * 1024;

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
	readonly #closed = new AbortController();

	constructor(settings: CollectorSettings) {
		this.#settings = settings;
		this.#agent = new Agent({ connections: 1, connect: settings.tls });
	}

	/**
	 * Sends a request, and again where the collector is busy or away for a moment.
	 * @param body an `ExportTraceServiceRequest`
	 * @throws Error that says why the collector has not taken all of it
	 */
	async send(body: Uint8Array): Promise<void> {
		const { timeoutMs, isCompressed } = this.#settings;
		const signal = anySignal(this.#closed.signal, AbortSignal.timeout(timeoutMs));
		const sent = isCompressed ? await compress(body) : body;
		for (let attempt = 1, waitMs = FIRST_WAIT_MS; ; attempt++, waitMs *= 2) {
			try {
				return await this.#sendOnce(sent, signal);
			} catch (error) {
				if (!(error instanceof SendError) || !error.isTemporary || attempt === MAX_ATTEMPTS || signal.aborted)
					throw error;
				// Servers that were refused together must not come back together.
				await sleep(error.waitMs ?? waitMs * (0.5 + Math.random()), signal);
				if (signal.aborted) throw error;
			}
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#closed.abort(new Error('The server ends.'));
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
			if (signal.aborted) throw new SendError('The collector did not answer in time.', false);
			const sentence = connectionFailure(error, new URL(url)) ?? messageOf(error);
			throw new SendError(sentence, !UNTRUSTED.test(String(error.code)));
		});
		const { statusCode } = response;
		const answer = await firstBytes(response.body);
		if (statusCode < 200 || statusCode > 299) {
			const after = retryAfterMs([response.headers['retry-after'] ?? []].flat()[0], Date.now());
			throw new SendError(`The collector answered with status ${statusCode}.`, RETRYABLE.has(statusCode), after);
		}
		if (rejectsSpans(answer)) throw new SendError('The collector rejected some of the spans.', false);
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
	return response[0] === 0x0a && response[2] === 0x08;
}
