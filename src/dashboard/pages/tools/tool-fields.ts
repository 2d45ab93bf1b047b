import type { Resource } from '../../api/client.ts';
import { jsonText } from '../../components/code-block.tsx';
import type { NameAndValue } from '../../components/rows-editor.tsx';
import type { ToolStrings } from '../../languages/strings.ts';
import type { Tool, ToolType } from './queries.ts';

type ApiConfig = Resource<'ApiToolConfig'>;
type McpConfig = Resource<'McpToolConfig'>;
export type ToolAuth = ApiConfig['auth'];
export type Method = ApiConfig['method'];

/** What a stored secret reads back as. Sent back, it leaves the secret unchanged. */
export const HIDDEN_SECRET = '***';

/** What the form of a tool changes. The members that the other kind of tool has are not shown. */
export interface ToolFields {
	name: string;
	description: string | null;
	method: Method;
	url: string;
	headers: readonly NameAndValue[];
	query: readonly NameAndValue[];
	/** JSON; empty: none. */
	body: string;
	/** A JSON Schema. */
	parameters: string;
	auth: ToolAuth;
	/** null: all functions of the MCP server. */
	allowed_tools: readonly string[] | null;
	timeout_ms: number;
}

export const NO_FIELDS: ToolFields = {
	name: '',
	description: null,
	method: 'GET',
	url: '',
	headers: [],
	query: [],
	body: '',
	parameters: jsonText({ type: 'object', properties: {} }),
	auth: { type: 'none' },
	allowed_tools: null,
	timeout_ms: 10_000,
};

/** The fields whose errors the form shows beside them. */
export const FIELD_POINTERS = ['/name', '/description', '/config'];

export function fieldsOf({ name, description, config }: Tool): ToolFields {
	const common = { ...NO_FIELDS, name, description, url: config.url, timeout_ms: config.timeout_ms };
	const fields = { ...common, headers: rowsOf(config.headers) };
	if (!('method' in config)) return { ...fields, allowed_tools: config.allowed_tools };
	return {
		...fields,
		method: config.method,
		query: rowsOf(config.query),
		body: config.body === null ? '' : jsonText(config.body),
		parameters: jsonText(config.parameters),
		auth: config.auth,
	};
}

/**
 * The configuration that the fields describe.
 * @param stored the stored one, which tells the types of the values of the query
 * @throws SyntaxError where a text is not JSON
 */
export function configOf(fields: ToolFields, type: ToolType, stored?: Tool['config']): ApiConfig | McpConfig {
	const { url, timeout_ms } = fields;
	const headers = recordOf(fields.headers);
	if (type === 'mcp') {
		const allowed_tools = fields.allowed_tools === null ? null : [...fields.allowed_tools];
		return { url, headers, allowed_tools, timeout_ms };
	}
	const storedQuery: Record<string, unknown> = stored && 'query' in stored ? stored.query : {};
	const query = Object.entries(recordOf(fields.query)).map(([name, text]) => [
		name,
		String(storedQuery[name]) === text ? storedQuery[name] : text,
	]);
	return {
		method: fields.method,
		url,
		headers,
		query: Object.fromEntries(query),
		body: fields.method === 'GET' || fields.body.trim() === '' ? null : JSON.parse(fields.body),
		parameters: JSON.parse(fields.parameters),
		auth: fields.auth,
		timeout_ms,
	};
}

/** The changes that a tab keeps: without secrets. */
export function withoutSecrets(changes: Partial<ToolFields>): Partial<ToolFields> {
	const { auth, headers, ...others } = changes;
	return {
		...others,
		...(auth && { auth: mapSecret(auth, () => '') }),
		...(headers && { headers: headers.map((row) => (isSecretHeader(row.name) ? { ...row, value: '' } : row)) }),
	};
}

/** An authentication with another secret. */
export function mapSecret(auth: ToolAuth, change: (secret: string) => string): ToolAuth {
	switch (auth.type) {
		case 'none':
			return auth;
		case 'bearer':
			return { ...auth, token: change(auth.token) };
		case 'basic':
			return { ...auth, password: change(auth.password) };
		case 'header':
			return { ...auth, value: change(auth.value) };
	}
}

/** Whether the server treats the value of a header as a secret. Rather too often: a secret must not stay in the tab. */
function isSecretHeader(name: string): boolean {
	return /auth|cookie|credential|key|passw|secret|session|signature|token/i.test(name);
}

export function labelsOf(t: ToolStrings): Record<keyof ToolFields, string> {
	return {
		name: t.name,
		description: t.description,
		method: t.method,
		url: t.url,
		headers: t.headers,
		query: t.query,
		body: t.body,
		parameters: t.parameters,
		auth: t.auth,
		allowed_tools: t.functions,
		timeout_ms: t.timeout,
	};
}

/** A field as a text for the comparison of two versions. Secrets are not shown. */
export function textOfField(fields: ToolFields, field: keyof ToolFields): string {
	switch (field) {
		case 'headers':
		case 'query':
			return fields[field]
				.map(({ name, value }) => `${name}: ${isSecretHeader(name) ? HIDDEN_SECRET : value}`)
				.join('\n');
		case 'auth':
			return jsonText(mapSecret(fields.auth, () => HIDDEN_SECRET));
		case 'timeout_ms':
			return String(fields.timeout_ms / 1_000);
		case 'allowed_tools':
			return fields.allowed_tools?.join('\n') ?? '*';
		default:
			return fields[field] ?? '';
	}
}

function rowsOf(members: Record<string, unknown>): NameAndValue[] {
	return Object.entries(members).map(([name, value]) => ({ name, value: String(value) }));
}

/** Rows without a name are left out. */
function recordOf(rows: readonly NameAndValue[]): Record<string, string> {
	return Object.fromEntries(
		rows.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), value]),
	);
}
