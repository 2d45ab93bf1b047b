import type { Log, SecretBox } from '../base/index.ts';
import type { Operation } from '../contract/index.ts';
import {
	errorResponse,
	type Headers,
	type HttpRequest,
	matchesEtag,
	type RouteResponse,
	versionEtag,
} from '../http/index.ts';
import type { CompleteResponse } from '../store/index.ts';
import { type HandlerResult, RawResponse, VersionedResult } from './call.ts';

const JSON_HEADER = ['content-type', 'application/json; charset=utf-8'] as const;
const NO_STORE = ['cache-control', 'no-store'] as const;
/** For the client only, which revalidates it by its ETag on each use. */
const PRIVATE_CACHE = ['cache-control', 'private, no-cache'] as const;
const REPLAYED = ['idempotent-replayed', 'true'] as const;
const SEAL_PURPOSE = 'stored answers';

/** The stored part of a response. */
type StorableResponse = CompleteResponse & { subject: string | null };

/** Makes responses of an operation's results, and stores them for repeats. */
export class OperationResponses<O extends Operation> {
	readonly #operation: O;
	/** Null: the operation's responses hold no secret. */
	readonly #secrets: SecretBox | null;
	readonly #request: HttpRequest;
	readonly #log: Log;

	constructor(operation: O, secrets: SecretBox | null, request: HttpRequest, log: Log) {
		this.#operation = operation;
		this.#secrets = secrets;
		this.#request = request;
		this.#log = log;
	}

	/** The response that carries a result; a 304 where the client has it already. */
	toResponse(handlerResult: HandlerResult<O> | RawResponse): RouteResponse {
		const value: unknown = handlerResult;
		if (value instanceof RawResponse) return value.response;
		const { method, status = 200 } = this.#operation;
		if (!(value instanceof VersionedResult)) {
			return { status, headers: [JSON_HEADER, NO_STORE], body: JSON.stringify(value) };
		}
		const etag = versionEtag(value.version);
		const headers: Headers = [['etag', etag], method === 'GET' ? PRIVATE_CACHE : NO_STORE];
		if (method === 'GET' && matchesEtag(this.#request.header('if-none-match'), etag)) return { status: 304, headers };
		return { status, headers: [JSON_HEADER, ...headers], body: JSON.stringify(value.result) };
	}

	/** A result as it is stored for repeats. */
	toStored(handlerResult: HandlerResult<O>): StorableResponse {
		const value: unknown = handlerResult;
		const result: unknown = value instanceof VersionedResult ? value.result : value;
		const { conversation_id = this.#conversationId() } = result as { conversation_id?: string | null };
		const body = this.#sealIfSecret(JSON.stringify(result));
		return { status: this.#operation.status ?? 200, body, subject: conversation_id };
	}

	/** An error as it is stored for repeats. */
	toStoredError(error: unknown): StorableResponse {
		const { status, body } = errorResponse(error, this.#request.id, this.#log);
		return { status, body: this.#sealIfSecret(String(body)), subject: this.#conversationId() };
	}

	/** The response to a repeat: the same status and bytes as the first one. */
	replay({ status, body }: CompleteResponse): RawResponse {
		const text = this.#secrets ? this.#secrets.open(body, SEAL_PURPOSE) : body;
		return new RawResponse({ status, headers: [JSON_HEADER, NO_STORE, REPLAYED], body: text });
	}

	/** Marks the response to a repeat whose stored response was pending. */
	markReplayed(handlerResult: HandlerResult<O> | RawResponse): RawResponse {
		const response = this.toResponse(handlerResult);
		return new RawResponse({ ...response, headers: [...(response.headers ?? []), REPLAYED] });
	}

	/** The conversation of the operation: its erasure erases the stored response too. */
	#conversationId(): string | null {
		const { path } = this.#operation;
		return /\/conversations\/\{id\}/.test(path) ? (this.#request.params.id ?? null) : null;
	}

	#sealIfSecret(body: string): string {
		return this.#secrets ? this.#secrets.seal(body, SEAL_PURPOSE) : body;
	}
}
