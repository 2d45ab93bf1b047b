import type { Static, TSchema } from 'typebox';

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
 * Who may call: `key`, a credential with this scope; `widget`, a visitor whose Origin is on the deployment's allowlist;
 * `public`, anyone.
 */
export type OperationAccess = { kind: 'key'; scope: Scope } | { kind: 'widget' } | { kind: 'public' };

/** One operation of the API: the single source of its route, its validation, its types and its documentation. */
export interface Operation {
	method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
	/** With `{placeholders}`. */
	path: string;
	summary: string;
	tag: string;
	access: OperationAccess;
	query?: TSchema;
	/** The JSON body. */
	body?: TSchema;
	/** The multipart body that may come instead of the JSON one. */
	multipart?: TSchema;
	/** The status of success. Default 200. */
	status?: 200 | 201;
	/** The body of success. */
	result: TSchema;
	/** `always`: the answer is an event stream; `asked`: where the request asks for one. */
	streams?: 'always' | 'asked';
}

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
