import type { Static, TSchema } from 'typebox';
import type { ErrorCode } from '../base/index.ts';

/** The areas of API-key scopes; each has `:read` and `:write`. */
export const SCOPE_AREAS = [
	'assistants',
	'knowledge_bases',
	'tools',
	'deployments',
	'conversations',
	'messages',
	'webhooks',
	'settings',
] as const;
export type ScopeArea = (typeof SCOPE_AREAS)[number];
export type Scope = `${ScopeArea}:${'read' | 'write'}`;

/** Every scope that can be granted, `*` (all of them) first. */
export const SCOPES: readonly ('*' | Scope)[] = [
	'*',
	...SCOPE_AREAS.flatMap((area) => [`${area}:read` as const, `${area}:write` as const]),
];

/**
 * Who may call an operation. `key`: an API key or session with this scope (null: any scope). `session`: a signed-in user.
 * `widget`: a visitor whose Origin is on the deployment's allowlist, with the visitor's token if the deployment requires one
 * (never if `token` is false). `public`: anyone.
 */
export type OperationAccess =
	| { kind: 'key'; scope: Scope | null }
	| { kind: 'session' }
	| { kind: 'widget'; token: boolean }
	| { kind: 'public' };

/** For operations that need an API key or a session with this scope; null: any scope. */
export const withKey = <S extends Scope | null>(scope: S) => ({ kind: 'key', scope }) as const;
/** For operations of visitors. */
export const asVisitor = { kind: 'widget', token: true } as const;
/** For operations of visitors that never need a token. */
export const asAnyVisitor = { kind: 'widget', token: false } as const;

/** For operations that need a signed-in user. */
export const asUser = { kind: 'session' } as const;
/** For operations that anyone may call. */
export const asAnyone = { kind: 'public' } as const;

/** Largest body in bytes of operations with a few short fields (each character may be an escape) or without a body. */
export const SMALL_BODY = 8 * 1024;

/** One operation of the API: the only source of its route, validation, types and documentation. */
export interface Operation {
	method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
	/** With `{placeholders}`. */
	path: string;
	summary: string;
	/** Markdown: details beyond the summary. */
	description?: string;
	tag: string;
	access: OperationAccess;
	query?: TSchema;
	/** The JSON body. */
	body?: TSchema;
	/** Largest JSON body in bytes. Default 1 MiB. */
	maxBodyBytes?: number;
	/** The multipart body that is accepted instead of the JSON body. */
	multipart?: TSchema;
	/** The status of a success. Default 200. */
	status?: 200 | 201;
	/** The body of a success. */
	result: TSchema;
	/**
	 * The result is a resource with a version: its responses have an ETag, GET honours If-None-Match, PATCH and DELETE honour
	 * If-Match.
	 */
	versioned?: true;
	/** A POST that changes nothing: its Idempotency-Key is ignored, and a repeat runs again. */
	reads?: true;
	/** A GET that leaves a record in the audit log. */
	audited?: true;
	/**
	 * Leaves no record in the audit log: a part of a conversation, which is its own record, or a change that only the caller sees.
	 */
	unaudited?: true;
	/** The result shows a secret once: its stored copy is encrypted. */
	secret?: true;
	/**
	 * `always`: the response is an event stream. `asked`: it is one if the request asks for it. Of a GET the document describes
	 * only the whole response: generated clients take an operation with both under one status for a stream.
	 */
	streams?: 'always' | 'asked';
	/** The media type of the text that the success is if the request asks for that form. */
	textForm?: 'text/markdown' | 'text/csv';
	/** The success is a file of this media type in place of JSON. */
	download?: 'application/octet-stream' | 'application/jsonl';
	/** The response sets or removes the session's cookie. */
	setsCookie?: true;
	/** Error codes besides those that follow from the other fields (`errorCodesOf` in openapi/). */
	errors?: readonly ErrorCode[];
	/**
	 * Request bodies for the documentation, by their purpose. Default: one made from the examples of the fields' schemas.
	 */
	examples?: Readonly<Record<string, unknown>>;
}

/** Operations by their operationId. */
export type OperationTable = Record<string, Operation>;

type StaticOr<T, Otherwise> = T extends TSchema ? Static<T> : Otherwise;

/** The names in the braces of a path. */
export type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
	? { [K in Name]: string } & PathParams<Rest>
	: unknown;

/** The input of an operation's handler. */
export interface OperationInput<O extends Operation> {
	params: PathParams<O['path']>;
	query: StaticOr<O['query'], Record<string, never>>;
	body: StaticOr<O['body'], undefined>;
}

/** The result of an operation's handler. */
export type OperationResult<O extends Operation> = Static<O['result']>;

/**
 * Whether an operation honours an Idempotency-Key: POSTs with a credential that change something, and visitors' messages.
 */
export function takesIdempotencyKey({ method, access, status, reads }: Operation): boolean {
	if (method !== 'POST' || reads) return false;
	return access.kind === 'key' || access.kind === 'session' || (access.kind === 'widget' && status === 201);
}

/** Whether a request to an operation leaves a record in the audit log: changes, and exports of the log and of end users. Visitors' requests leave none. */
export function isAudited({ method, access, reads, audited, unaudited }: Operation): boolean {
	if (audited) return true;
	return method !== 'GET' && !reads && !unaudited && access.kind !== 'widget';
}
