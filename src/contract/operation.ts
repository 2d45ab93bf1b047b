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
 * Who may call: `key`, an API key or session with this scope (null: with any); `session`, a signed-in user; `widget`, a
 * visitor whose Origin is on the deployment's allowlist, with a token of theirs where the deployment asks for one (`token`:
 * false: it never does here); `public`, anyone.
 */
export type OperationAccess =
	| { kind: 'key'; scope: Scope | null }
	| { kind: 'session' }
	| { kind: 'widget'; token: boolean }
	| { kind: 'public' };

/** For operations that take an API key, or a session, with this scope; null: any. */
export const withKey = <S extends Scope | null>(scope: S) => ({ kind: 'key', scope }) as const;
/** For operations of visitors. */
export const asVisitor = { kind: 'widget', token: true } as const;
/** For what visitors' pages read before anybody can identify themselves. */
export const asAnyVisitor = { kind: 'widget', token: false } as const;

/** For what only a person does who is signed in. */
export const asUser = { kind: 'session' } as const;
/** For what anyone may call. */
export const asAnyone = { kind: 'public' } as const;

/** Bytes of a body of a few short fields, each character of them written as an escape; or of one that there should not be. */
export const SMALL_BODY = 8 * 1024;

/** One operation of the API: the single source of its route, its validation, its types and its documentation. */
export interface Operation {
	method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
	/** With `{placeholders}`. */
	path: string;
	summary: string;
	/** Markdown: what the summary leaves out. */
	description?: string;
	tag: string;
	access: OperationAccess;
	query?: TSchema;
	/** The JSON body. */
	body?: TSchema;
	/** Bytes that the JSON body may have, where that is less than the 1 MiB of all others. */
	maxBodyBytes?: number;
	/** The multipart body that may come instead of the JSON one. */
	multipart?: TSchema;
	/** The status of success. Default 200. */
	status?: 200 | 201;
	/** The body of success. */
	result: TSchema;
	/**
	 * The result is a resource with a version: its answers carry an ETag, GET honours If-None-Match, PATCH and DELETE honour
	 * If-Match.
	 */
	versioned?: true;
	/** A POST that changes nothing: a repeat is carried out again, and its Idempotency-Key is ignored. */
	reads?: true;
	/** The result shows a secret, once: a stored copy of it is sealed. */
	secret?: true;
	/** `setDefault`: the answer is an event stream; `asked`: where the request asks for one. */
	streams?: 'always' | 'asked';
	/** The answer sets the session's cookie, or takes it away. */
	setsCookie?: true;
	/** What this operation may be refused with beyond what follows from the rest (`errorCodesOf` in openapi/). */
	errors?: readonly ErrorCode[];
	/**
	 * Bodies as clients send them, by what each is for, for the documentation. Where absent, one is made of the examples
	 * that the fields' schemas have.
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

/** What a handler of an operation is given. */
export interface OperationInput<O extends Operation> {
	params: PathParams<O['path']>;
	query: StaticOr<O['query'], Record<string, never>>;
	body: StaticOr<O['body'], undefined>;
}

/** What a handler of an operation answers. */
export type OperationResult<O extends Operation> = Static<O['result']>;

/** Whether an operation honours an Idempotency-Key: what is changed for a credential, and what visitors' messages begin. */
export function takesIdempotencyKey({ method, access, status, reads }: Operation): boolean {
	if (method !== 'POST' || reads) return false;
	return access.kind === 'key' || access.kind === 'session' || (access.kind === 'widget' && status === 201);
}
