import { type Static, type TProperties, Type } from 'typebox';
import { type OperationTable, withKey } from './operation.ts';
import { FUNCTION_NAME } from './patterns.ts';
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
import { ApiToolConfig, ApiToolConfigInput, McpToolConfig, McpToolConfigInput, StringMap } from './tool-config.ts';

const name = Type.String({
	pattern: FUNCTION_NAME,
	description: 'The name by which models call it.',
	examples: ['get_weather'],
});
const description = NullableMultilineText({
	maxLength: 4000,
	description: 'Describes to models what the tool does and when to call it.',
	examples: ['The weather of a city, now and for the next days.'],
});
const type = OneOf(['api', 'mcp']);
const status = OneOf(['active', 'archived'], {
	description:
		'`archived` disables the tool: models are not offered it, and it is not called. It stays attached to its assistants.',
});

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
	type: OneOf(['api', 'mcp'], { description: 'A change of the type needs a complete `config`.' }),
	config: AnyObject({
		description: 'A JSON merge patch (RFC 7396) of the configuration. The merged result must be valid.',
		examples: [{ timeout_ms: 5000 }],
	}),
	status,
});
export type ToolPatch = Static<typeof ToolPatch>;

/** The input of a test call. */
export const ToolTest = Strict({
	function: Type.Optional(
		SingleLineText({
			maxLength: 128,
			description: 'The name of the function, as `/functions` lists it. Required for MCP tools, which have several.',
			examples: ['stock_level'],
		}),
	),
	arguments: Type.Optional(
		AnyObject({
			description: 'The arguments, as a model gives them. Default: none.',
			examples: [{ city: 'Ulm' }],
		}),
	),
});
export type ToolTest = Static<typeof ToolTest>;

/** The request that a test call made, without secrets. */
export const ToolRequest = Type.Object({
	method: Type.String({ examples: ['GET'] }),
	url: Type.String({
		description: 'With its query, the placeholders filled in.',
		examples: ['https://weather.example/v1/cities/Ulm'],
	}),
	headers: StringMap<string>(Type.String(), {
		description: 'By lower-case name. Secrets are "***".',
		examples: [{ authorization: '***' }],
	}),
	body: NullableText({ description: 'The JSON that was sent, at most 32 KiB of it; null: none.' }),
});
export type ToolRequest = Static<typeof ToolRequest>;

/** The result of a test call. */
export const ToolTestResult = Type.Object({
	result: Type.String({
		description: 'The result that a model receives: at most 32 KiB, without the secrets of the tool.',
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
	status_code: NullableInteger({ description: 'The HTTP status of the response; null without a response.' }),
	request: NullableObject(ToolRequest, {
		description: 'The request to the API; null where none was made, and for MCP tools.',
	}),
	duration_ms: Type.Integer({ minimum: 0 }),
});
export type ToolTestResult = Static<typeof ToolTestResult>;

/** A function of a tool. */
export const ToolFunctionDescription = Type.Object({
	name: Type.String({ description: "The function's name within the tool.", examples: ['stock_level'] }),
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
		summary: 'Change a tool, disable or enable it',
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
		summary: 'Test a tool',
		description:
			'Calls the tool once, as a model would, also if it is disabled. The status is 200 whether or not the call succeeded; the body has the result or the error.',
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
			'An API tool has one function. For an MCP tool: all functions that its server offers at present, also those that are not in `allowed_tools`. Models call each by the tool’s name, `_` and the name given here.',
		tag: 'Tools',
		access: withKey('tools:read'),
		result: PageOf(ToolFunctionDescription),
		errors: ['url_not_allowed'],
	},
} as const satisfies OperationTable;
