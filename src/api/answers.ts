import type { Log, SecretBox } from '../base/index.ts';
import type { Operation } from '../contract/index.ts';
import { errorReply, type Headers, type HttpRequest, namesEtag, type Reply, versionEtag } from '../http/index.ts';
import type { IdempotencyRecord, StoredResponse } from '../store/index.ts';
import { type Answer, RawReply, Versioned } from './call.ts';

const JSON_HEADER = ['content-type', 'application/json; charset=utf-8'] as const;
const NO_STORE = ['cache-control', 'no-store'] as const;
/** For the client alone, and asked for again each time: that is what the ETag is for. */
const OWN_COPY = ['cache-control', 'private, no-cache'] as const;
const REPLAYED = ['idempotent-replayed', 'true'] as const;
const SEALED_FOR = 'stored answers';

/** What is stored of an answer. */
type Kept = Pick<IdempotencyRecord, 'status' | 'body'> & { subject: string | null };

/** Makes replies of what an operation answers, and keeps them for repeats. */
export class Answers<O extends Operation> {
	readonly #operation: O;
	/** Null: a stored answer shows no secret. */
	readonly #secrets: SecretBox | null;
	readonly #request: HttpRequest;
	readonly #log: Log;

	constructor(operation: O, secrets: SecretBox | null, request: HttpRequest, log: Log) {
		this.#operation = operation;
		this.#secrets = secrets;
		this.#request = request;
		this.#log = log;
	}

	/** The reply that carries an answer; a 304 where the client has it already. */
	reply(given: Answer<O> | RawReply): Reply {
		const answer: unknown = given;
		if (answer instanceof RawReply) return answer.reply;
		const { method, status = 200 } = this.#operation;
		if (!(answer instanceof Versioned)) {
			return { status, headers: [JSON_HEADER, NO_STORE], body: JSON.stringify(answer) };
		}
		const etag = versionEtag(answer.version);
		const headers: Headers = [['etag', etag], method === 'GET' ? OWN_COPY : NO_STORE];
		if (method === 'GET' && namesEtag(this.#request.header('if-none-match'), etag)) return { status: 304, headers };
		return { status, headers: [JSON_HEADER, ...headers], body: JSON.stringify(answer.result) };
	}

	/** An answer as it is stored for repeats. */
	stored(given: Answer<O>): Kept {
		const answer: unknown = given;
		const result: unknown = answer instanceof Versioned ? answer.result : answer;
		const { conversation_id = this.#conversation() } = result as { conversation_id?: string | null };
		const body = this.#keep(JSON.stringify(result));
		return { status: this.#operation.status ?? 200, body, subject: conversation_id };
	}

	/** A refusal as it is stored for repeats. */
	refused(error: unknown): Kept {
		const { status, body } = errorReply(error, this.#request.id, this.#log);
		return { status, body: this.#keep(String(body)), subject: this.#conversation() };
	}

	/** The reply to a repeat: the same status and bytes as the first one's. */
	again({ status, body }: StoredResponse): RawReply {
		const text = this.#secrets ? this.#secrets.open(body, SEALED_FOR) : body;
		return new RawReply({ status, headers: [JSON_HEADER, NO_STORE, REPLAYED], body: text });
	}

	/** Marks the answer to a repeat that is found elsewhere than among the stored ones. */
	marked(answer: Answer<O> | RawReply): RawReply {
		const reply = this.reply(answer);
		return new RawReply({ ...reply, headers: [...(reply.headers ?? []), REPLAYED] });
	}

	/** The conversation that the operation is about: what is stored of it goes when that is erased. */
	#conversation(): string | null {
		const { path } = this.#operation;
		return /\/conversations\/\{id\}/.test(path) ? (this.#request.params.id ?? null) : null;
	}

	#keep(body: string): string {
		return this.#secrets ? this.#secrets.seal(body, SEALED_FOR) : body;
	}
}
