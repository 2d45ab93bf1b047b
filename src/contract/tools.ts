import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { type OperationTable, withKey } from './operation.ts';
import { FUNCTION_NAME, URL_PATTERN } from './patterns.ts';
import {
	AnyObject,
	Deleted,
	NullableInteger,
	NullableObject,
	NullableText,
	OneOf,
	PageOf,
	PageQueryWith,
	Patch,
	Strict,
	Timestamp,
	Variants,
} from './shapes.ts';
import { NullableMultilineText, SingleLineText } from './text-shapes.ts';

const WRITE_ONLY = 'Write-only: reads back as "***", which sent back leaves it as it is.';

const name = Type.String({
	pattern: FUNCTION_NAME,
	description: 'The name by which models call it.',
	examples: ['get_weather'],
});
const description = NullableMultilineText({
	maxLength: 4000,
	description: 'Tells models what it does and when to call it.',
	examples: ['The weather of a city, now and for the next days.'],
});
const type = OneOf(['api', 'mcp']);
const status = OneOf(['active', 'archived'], {
	description:
		'`archived` switches the tool off: models are not offered it, and it is not called. It stays attached where it is.',
});

const url = (text: string) =>
	Type.String({
		minLength: 1,
		maxLength: 4000,
		pattern: URL_PATTERN,
		description: `${text} https, unless the server may reach private networks.`,
	});
const timeout_ms = Type.Integer({
	minimum: 1,
	maximum: 30_000,
	description: 'For a whole call. Default 10000.',
	examples: [10_000],
});

/** Members of any name; `Type.Record` would let names with a line break through unchecked. */
function StringMap<T>(value: TSchema, options: { description: string; examples: unknown[] }) {
	return Type.Unsafe<Record<string, T>>({ type: 'object', additionalProperties: value, maxProperties: 50, ...options });
}

const headers = StringMap<string>(Type.String({ maxLength: 4096 }), {
	description: `Sent with every call. \`{placeholders}\` that are parameters are filled in; a header whose argument is not given is left out. Values whose name speaks of a secret (it holds \`auth\`, \`cookie\`, \`credential\`, \`key\`, \`passw\`, \`secret\`, \`session\`, \`signature\` or \`token\`, other than in \`author\` and \`idempotency-key\`) are secret, sent as they are, and refused where they hold a placeholder that is a parameter. Other methods than GET are sent with an \`Idempotency-Key\` of the call's own unless the tool sets that header. ${WRITE_ONLY}`,
	examples: [{ Accept: 'application/json' }],
});
const query = StringMap<string | number | boolean>(
	Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'], maxLength: 4096 }),
	{
		description:
			'Added to the query of the URL. Values may hold `{placeholders}`; one whose argument is not given is left out, and a list is sent as a pair for each of its items. Not for secrets: they read back.',
		examples: [{ units: 'metric' }],
	},
);
const body = Type.Unknown({
	description:
		'Sent as JSON; not with GET; null: none. In its texts `{placeholders}` that are parameters are filled in; others stay as they are. A text that is one placeholder and nothing else becomes the argument itself, be it a number or an object, and is left out where that is not given.',
	examples: [null],
});
const parameters = AnyObject({
	description:
		'What models fill in: a JSON Schema (2020-12, or draft-07 by `$schema`) with `"type": "object"`. `$ref` leads to a place in it by a JSON Pointer (`#/$defs/city`), and never back to where it stands. At most 1,000 schemas and keywords, and 64 KiB, each reference counted as what it leads to.',
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
	description: "Which of the server's tools models are offered; null: all.",
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
	description: 'How calls say who they come from. In a change, another `type` begins anew.',
	examples: [{ type: 'none' }],
};
const { none, bearer, basic, header } = authMembers;

/** How calls of an API tool say who they come from, whole. */
export const ToolAuth = Variants(
	'type',
	[Type.Object(none), Type.Object(bearer), Type.Object(basic), Type.Object(header)],
	authOptions,
);
export type ToolAuth = Static<typeof ToolAuth>;
const authInput = Variants('type', [Strict(none), Strict(bearer), Strict(basic), Strict(header)], authOptions);

/** What calls of an API tool are made of, whole. */
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

/** The same as clients send it. */
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

/** How an MCP server is reached, whole. */
export const McpToolConfig = Type.Object({ url: mcpUrl, headers, allowed_tools, timeout_ms });
export type McpToolConfig = Static<typeof McpToolConfig>;

/** The same as clients send it. */
export const McpToolConfigInput = Strict({
	url: mcpUrl,
	headers: Type.Optional(headers),
	allowed_tools: Type.Optional(allowed_tools),
	timeout_ms: Type.Optional(timeout_ms),
});
export type McpToolConfigInput = Static<typeof McpToolConfigInput>;

export const Tool = Type.Object({
	id: Type.String(),
	name,
	description,
	type,
	config: Type.Union([ApiToolConfig, McpToolConfig]),
	status,
	created_at: Timestamp,
	updated_at: Timestamp,
});
export type Tool = Static<typeof Tool>;

const toolCreate = <P extends TProperties>(of: P) => Strict({ name, description: Type.Optional(description), ...of });

export const ToolCreate = Variants('type', [
	toolCreate({ type: Type.Literal('api'), config: ApiToolConfigInput }),
	toolCreate({ type: Type.Literal('mcp'), config: McpToolConfigInput }),
]);
export type ToolCreate = Static<typeof ToolCreate>;

export const ToolPatch = Patch({
	name,
	description,
	type: OneOf(['api', 'mcp'], { description: 'Another type needs the whole of its `config`.' }),
	config: AnyObject({
		description:
			'A JSON merge patch (RFC 7396) of the configuration: what it names is merged, null removes; the whole must be right.',
		examples: [{ timeout_ms: 5000 }],
	}),
	status,
});
export type ToolPatch = Static<typeof ToolPatch>;

/** What a tool is called with when it is tried out. */
export const ToolTest = Strict({
	function: Type.Optional(
		SingleLineText({
			maxLength: 128,
			description: 'Which function, under the name that `/functions` lists. Needed for MCP tools: they have many.',
			examples: ['stock_level'],
		}),
	),
	arguments: Type.Optional(
		AnyObject({
			description: 'As a model would give them. Default: none.',
			examples: [{ city: 'Ulm' }],
		}),
	),
});
export type ToolTest = Static<typeof ToolTest>;

/** What came of trying a tool out. */
export const ToolTestResult = Type.Object({
	result: Type.String({
		description: 'What a model would be told: at most 32 KiB, without the secrets of the tool.',
		examples: ['{"temperature": 21}'],
	}),
	is_error: Type.Boolean({ description: 'Whether the call failed.' }),
	error: NullableObject(
		Type.Object({
			code: Type.String({
				description:
					'`invalid_arguments`, `unknown_function`, `url_not_allowed`, `unreachable`, `timed_out`, `bad_status`, `unusable_answer`, `tool_failed` or `internal_error`.',
				examples: ['bad_status'],
			}),
			message: Type.String({ description: 'For people.', examples: ['The API answered with status 404.'] }),
		}),
		{ description: 'Why it failed.', examples: [null] },
	),
	status_code: NullableInteger({ description: 'With which HTTP status it was answered; null where it was not.' }),
	duration_ms: Type.Integer({ minimum: 0 }),
});
export type ToolTestResult = Static<typeof ToolTestResult>;

/** A function that a tool offers. */
export const ToolFunctionDescription = Type.Object({
	name: Type.String({ description: "The tool's own name for it.", examples: ['stock_level'] }),
	description: NullableText({ examples: ['How many of an article are in stock.'] }),
	parameters: AnyObject({
		description: 'The JSON Schema of its arguments.',
		examples: [{ type: 'object', properties: { article: { type: 'string' } }, required: ['article'] }],
	}),
});
export type ToolFunctionDescription = Static<typeof ToolFunctionDescription>;

export const ToolListQuery = PageQueryWith({
	type: Type.Optional(OneOf(['api', 'mcp'], { description: 'Only tools of this type.' })),
	status: Type.Optional(OneOf(['active', 'archived'], { description: 'Only tools in this state.' })),
});

/** Tools. */
export const toolOperations = {
	listTools: {
		method: 'GET',
		path: '/api/v1/tools',
		summary: 'List tools',
		tag: 'Tools',
		access: withKey('tools:read'),
		query: ToolListQuery,
		result: PageOf(Tool),
	},
	createTool: {
		versioned: true,
		method: 'POST',
		path: '/api/v1/tools',
		summary: 'Create a tool',
		tag: 'Tools',
		access: withKey('tools:write'),
		body: ToolCreate,
		status: 201,
		result: Tool,
		errors: ['url_not_allowed'],
		examples: {
			'An HTTP API': {
				name: 'get_weather',
				description: 'The weather of a city, now and for the next days.',
				type: 'api',
				config: {
					method: 'GET',
					url: 'https://weather.example/v1/cities/{city}',
					parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
					auth: { type: 'bearer', token: 'the-token-of-your-account' },
				},
			},
			'An MCP server': {
				name: 'warehouse',
				type: 'mcp',
				config: { url: 'https://tools.example/mcp', allowed_tools: ['stock_level'] },
			},
		},
	},
	getTool: {
		versioned: true,
		method: 'GET',
		path: '/api/v1/tools/{id}',
		summary: 'Get a tool',
		tag: 'Tools',
		access: withKey('tools:read'),
		result: Tool,
	},
	updateTool: {
		versioned: true,
		method: 'PATCH',
		path: '/api/v1/tools/{id}',
		summary: 'Change a tool, switch it off or on again',
		tag: 'Tools',
		access: withKey('tools:write'),
		body: ToolPatch,
		result: Tool,
		errors: ['url_not_allowed'],
	},
	deleteTool: {
		method: 'DELETE',
		path: '/api/v1/tools/{id}',
		summary: 'Delete a tool and detach it everywhere',
		tag: 'Tools',
		access: withKey('tools:write'),
		result: Deleted,
	},
	testTool: {
		method: 'POST',
		path: '/api/v1/tools/{id}/test',
		summary: 'Try a tool out',
		description:
			'Calls it once, as a model would, also where it is switched off. What comes of it is the answer, with status 200, whether or not the call succeeded.',
		tag: 'Tools',
		access: withKey('tools:write'),
		body: ToolTest,
		result: ToolTestResult,
		examples: {
			'An HTTP API': { arguments: { city: 'Ulm' } },
			'A function of an MCP server': { function: 'stock_level', arguments: { article: '4711' } },
		},
	},
	listToolFunctions: {
		method: 'GET',
		path: '/api/v1/tools/{id}/functions',
		summary: 'List the functions of a tool',
		description:
			'An API tool is one function. Of an MCP tool: what its server offers at this moment, `allowed_tools` or not; models know each by the name of the tool, `_`, and the name given here.',
		tag: 'Tools',
		access: withKey('tools:read'),
		result: PageOf(ToolFunctionDescription),
		errors: ['url_not_allowed'],
	},
} as const satisfies OperationTable;
