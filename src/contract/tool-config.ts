import { type Static, type TSchema, Type } from 'typebox';
import { URL_PATTERN } from './patterns.ts';
import { AnyObject, OneOf, Strict, Variants } from './shapes.ts';
import { SingleLineText } from './text-shapes.ts';

const WRITE_ONLY = 'Write-only: reads back as "***". Sending "***" back leaves it unchanged.';

const url = (text: string) =>
	Type.String({
		minLength: 1,
		maxLength: 4000,
		pattern: URL_PATTERN,
		description: `${text} https, unless the server may connect to private networks.`,
	});
const timeout_ms = Type.Integer({
	minimum: 1,
	maximum: 30_000,
	description: 'Time limit of a whole call. Default 10000.',
	examples: [10_000],
});

/** Members of any name. `Type.Record` would not check the values of names with a line break. */
export function StringMap<T>(value: TSchema, options: { description: string; examples: unknown[] }) {
	return Type.Unsafe<Record<string, T>>({ type: 'object', additionalProperties: value, maxProperties: 50, ...options });
}

const headers = StringMap<string>(Type.String({ maxLength: 4096 }), {
	description: `Sent with every call. \`{placeholders}\` that are parameters are filled in; a header whose argument is absent is omitted. A value is secret if the header’s name contains \`auth\`, \`cookie\`, \`credential\`, \`key\`, \`passw\`, \`secret\`, \`session\`, \`signature\` or \`token\` (except \`author\` and \`idempotency-key\`): it is sent unchanged, and rejected if it contains a placeholder that is a parameter. Methods other than GET are sent with a generated \`Idempotency-Key\` per call, unless the tool sets that header. ${WRITE_ONLY}`,
	examples: [{ Accept: 'application/json' }],
});
const query = StringMap<string | number | boolean>(
	Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'], maxLength: 4096 }),
	{
		description:
			'Added to the query of the URL. Values may contain `{placeholders}`. A parameter whose argument is absent is omitted, and a list is sent as one pair per item. Not for secrets: these values read back.',
		examples: [{ units: 'metric' }],
	},
);
const body = Type.Unknown({
	description:
		'Sent as JSON, except with GET; null: no body. In its strings, `{placeholders}` that are parameters are filled in; others are unchanged. A string that is exactly one placeholder becomes the argument itself, which may be a number or an object, and is omitted if the argument is absent.',
	examples: [null],
});
const parameters = AnyObject({
	description:
		'The arguments that models give: a JSON Schema (2020-12, or draft-07 by `$schema`) with `"type": "object"`. `$ref` is a JSON Pointer within it (`#/$defs/city`) and must not be recursive. At most 1,000 schemas and keywords, and 64 KiB, with each reference counted as its target.',
	examples: [{ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }],
});
const method = OneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const apiUrl = {
	...url('Each `{placeholder}`, in path or query, is a property of `parameters`.'),
	examples: ['https://weather.example/v1/cities/{city}'],
} as ReturnType<typeof url>;
const mcpUrl = {
	...url('The endpoint of an MCP server (streamable HTTP).'),
	examples: ['https://tools.example/mcp'],
} as ReturnType<typeof url>;
const allowed_tools = Type.Unsafe<string[] | null>({
	type: ['array', 'null'],
	items: SingleLineText({ maxLength: 128 }),
	maxItems: 200,
	uniqueItems: true,
	description: "The server's tools that models may call; null: all.",
	examples: [null],
});

const secret = Type.String({ minLength: 1, maxLength: 4096, description: WRITE_ONLY, examples: ['***'] });
const authMembers = {
	none: { type: Type.Literal('none') },
	bearer: { type: Type.Literal('bearer'), token: secret },
	basic: {
		type: Type.Literal('basic'),
		username: Type.String({ maxLength: 1000, examples: ['parley'] }),
		password: Type.String({ maxLength: 4096, description: WRITE_ONLY, examples: ['***'] }),
	},
	header: {
		type: Type.Literal('header'),
		name: Type.String({ minLength: 1, maxLength: 128, examples: ['X-Api-Key'] }),
		value: secret,
	},
};
const authOptions = {
	description: 'How calls authenticate. In a PATCH, another `type` replaces all former members.',
	examples: [{ type: 'none' }],
};
const { none, bearer, basic, header } = authMembers;

/** How calls of an API tool authenticate, complete. */
export const ToolAuth = Variants(
	'type',
	[Type.Object(none), Type.Object(bearer), Type.Object(basic), Type.Object(header)],
	authOptions,
);
export type ToolAuth = Static<typeof ToolAuth>;
const authInput = Variants('type', [Strict(none), Strict(bearer), Strict(basic), Strict(header)], authOptions);

/** The configuration of an API tool, complete. */
export const ApiToolConfig = Type.Object({
	method,
	url: apiUrl,
	headers,
	query,
	body,
	parameters,
	timeout_ms,
	auth: ToolAuth,
});
export type ApiToolConfig = Static<typeof ApiToolConfig>;

/** The same, as clients send it. */
export const ApiToolConfigInput = Strict({
	method,
	url: apiUrl,
	headers: Type.Optional(headers),
	query: Type.Optional(query),
	body: Type.Optional(body),
	parameters: Type.Optional(parameters),
	timeout_ms: Type.Optional(timeout_ms),
	auth: Type.Optional(authInput),
});
export type ApiToolConfigInput = Static<typeof ApiToolConfigInput>;

/** The configuration of an MCP tool, complete. */
export const McpToolConfig = Type.Object({ url: mcpUrl, headers, allowed_tools, timeout_ms });
export type McpToolConfig = Static<typeof McpToolConfig>;

/** The same, as clients send it. */
export const McpToolConfigInput = Strict({
	url: mcpUrl,
	headers: Type.Optional(headers),
	allowed_tools: Type.Optional(allowed_tools),
	timeout_ms: Type.Optional(timeout_ms),
});
export type McpToolConfigInput = Static<typeof McpToolConfigInput>;
