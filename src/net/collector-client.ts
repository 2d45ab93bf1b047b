import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Agent, type Dispatcher, request } from 'undici';
import { anySignal, messageOf, rejectOnAbort, retryAfterMs, sleep } from '../base/index.ts';
import { connectionFailure } from './send-request.ts';

/** After these the same export may succeed (https://opentelemetry.io/docs/specs/otlp, "Retryable Response Codes"). */
const TEMPORARY_STATUS: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Codes of failures after which another connection may succeed. */
const TEMPORARY_FAILURE_CODE =
	/^(ECONN|EPIPE|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|UND_ERR_(SOCKET|CONNECT_TIMEOUT|HEADERS_TIMEOUT)$)/;
const BROKEN_OFF_CODE = /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/;
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
	readonly #noRetries = new AbortController();
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
				if (!(error instanceof SendError) || !error.isTemporary || attempt >= MAX_ATTEMPTS) throw error;
				if (this.#noRetries.signal.aborted) throw error;
				// Servers that failed together must not come back together, unless the collector says when.
				const waitMs = error.waitMs ?? ownWaitMs * (0.5 + Math.random());
				if (performance.now() + waitMs > endsAt) throw error;
				await sleep(waitMs, this.#noRetries.signal);
				if (this.#noRetries.signal.aborted) attempt = MAX_ATTEMPTS - 1;
			}
		}
	}

	/** Ends the wait for another attempt, which is the last one of its export. The server ends soon. */
	stopRetrying(): void {
		this.#noRetries.abort();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.stopRetrying();
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
			const target = new URL(url);
			const code = String(error.code);
			const brokenOff = `The connection to ${target.host} broke off before there was a response.`;
			const otherwise = BROKEN_OFF_CODE.test(code) ? brokenOff : messageOf(error);
			throw new SendError(connectionFailure(error, target) ?? otherwise, TEMPORARY_FAILURE_CODE.test(code));
		});
		const { statusCode } = response;
		const answer = await firstBytes(response.body);
		if (statusCode < 200 || statusCode > 299) {
			const waitMs = retryAfterMs([response.headers['retry-after'] ?? []].flat()[0], Date.now());
			const sentence = `The collector answered with status ${statusCode}${this.#reasonIn(response, answer)}.`;
			throw new SendError(sentence, TEMPORARY_STATUS.has(statusCode), waitMs);
		}
		// Its field 1, `rejected_spans`, is not written if it is 0.
		if (partialSuccessIn(answer)[0] === 0x08)
			throw new SendError(`The collector rejected some of the spans${this.#reasonIn(response, answer)}.`, false);
	}

	/** What the collector says, for the end of a sentence; empty: nothing. A collector may repeat the headers, which have secrets. */
	#reasonIn({ headers }: Dispatcher.ResponseData, answer: Buffer): string {
		const isProtobuf = headers['content-type']?.includes('application/x-protobuf') === true;
		// `error_message` of a partial success, `message` of a Status.
		const message = isProtobuf ? fieldIn(fieldIn(answer, 1) ?? answer, 2) : answer;
		let text = (message ?? '').toString();
		for (const value of Object.values(this.#settings.headers))
			for (const secret of [value, ...value.split(' ').slice(1)])
				if (secret !== '') text = text.replaceAll(secret, '***');
		text = text.replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]+/gu, ' ').trim();
		return text === '' ? '' : ` (${text.slice(0, MAX_REASON_CHARACTERS)})`;
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

/** The `partial_success` (field 1) of an `ExportTraceServiceResponse`; empty: there is none. */
function partialSuccessIn(response: Buffer): Buffer {
	return fieldIn(response, 1) ?? Buffer.alloc(0);
}

/** A field with a length, of a message of Protocol Buffers; null where it is missing, or where the message is malformed. */
function fieldIn(message: Buffer, field: number): Buffer | null {
	let at = 0;
	const readVarint = () => {
		let value = 0;
		for (let factor = 1; at < message.length; factor *= 0x80) {
			const byte = message[at++] as number;
			value += (byte & 0x7f) * factor;
			if (byte < 0x80) break;
		}
		return value;
	};
	while (at < message.length) {
		const tag = readVarint();
		const value = readVarint();
		if (tag % 8 === 0) continue;
		if (tag % 8 !== 2) return null;
		at += value;
		if (tag >> 3 === field) return message.subarray(at - value, at);
	}
	return null;
}
