import { type Static, Type } from 'typebox';
import { BudgetOrNull, BudgetPatch } from './budgets.ts';
import { type OperationTable, withKey } from './operation.ts';
import { NullableInteger, Patch, Timestamp } from './shapes.ts';
import { SingleLineText } from './text-shapes.ts';

const name = SingleLineText({ maxLength: 200, examples: ['Ada'] });
const retention_days = NullableInteger({
	minimum: 1,
	maximum: 36_500,
	description:
		'Days for which conversations are kept after their last message, whatever their status. After that they are erased for good, without an event, and their open streams end. A change takes effect within a minute. A deployment may have its own. Null: for ever.',
});

const require_totp = Type.Boolean({
	description:
		'Whether people need a second factor. A person without one can sign in, set one up and use the own account, and do nothing else until then. API keys are not concerned.',
});

export const Workspace = Type.Object({
	id: Type.String(),
	name,
	plan: Type.String({
		description: 'The plan, which sets the workspace’s limits. The server’s operator sets it.',
		examples: ['unlimited'],
	}),
	retention_days,
	budget: BudgetOrNull('What replies may cost in a period.'),
	require_totp,
	created_at: Timestamp,
	updated_at: Timestamp,
});
export type Workspace = Static<typeof Workspace>;

const use = (description: string) =>
	Type.Object({ used: Type.Integer(), limit: NullableInteger({ description: 'Null: no limit.' }) }, { description });

export const WorkspaceUsage = Type.Object({
	plan: Type.String({ examples: ['unlimited'] }),
	assistants: use('Active assistants.'),
	tool_attachments: use('Tools attached to active assistants, in total.'),
	requests_per_minute: Type.Integer({ description: 'Of each key and session; 0: no limit.' }),
});
export type WorkspaceUsage = Static<typeof WorkspaceUsage>;

export const WorkspacePatch = Patch({ name, retention_days, budget: BudgetPatch, require_totp });
export type WorkspacePatch = Static<typeof WorkspacePatch>;

/** The workspace. */
export const workspaceOperations = {
	getWorkspace: {
		versioned: true,
		method: 'GET',
		path: '/api/v1/workspace',
		summary: 'Get the workspace',
		tag: 'Workspace',
		access: withKey('settings:read'),
		result: Workspace,
	},
	updateWorkspace: {
		versioned: true,
		method: 'PATCH',
		path: '/api/v1/workspace',
		summary: 'Change the workspace',
		tag: 'Workspace',
		access: withKey('settings:write'),
		body: WorkspacePatch,
		result: Workspace,
	},
	exportWorkspace: {
		method: 'GET',
		path: '/api/v1/workspace/export',
		summary: 'Export the workspace',
		description:
			'A file of JSON Lines, each `{"type": …, "resource": …}`: the first names the format and its version, the last counts the lines, so that a part of a file is recognised. Between them are the workspace, its users, API keys, tools, knowledge bases with their sources and documents (without their content), assistants, deployments, webhooks and canned replies as the API shows them: no secrets, no passwords. Conversations are not in it. The file is read while it is sent: what exists from its beginning to its end is in it once, what changes meanwhile may be in it before or after the change. An API key needs `settings:read` and the `:read` scope of each of these areas, canned replies being a part of `conversations`.',
		tag: 'Workspace',
		access: withKey('settings:read'),
		download: 'application/jsonl',
		result: Type.Unsafe<never>({
			type: 'string',
			examples: [
				'{"type":"export","resource":{"format":"parley-workspace","version":1,"started_at":"2025-01-01T00:00:00.000Z"}}\n',
			],
		}),
	},
	getWorkspaceUsage: {
		method: 'GET',
		path: '/api/v1/workspace/usage',
		summary: 'Get the use of the plan',
		tag: 'Workspace',
		access: withKey('settings:read'),
		result: WorkspaceUsage,
	},
} as const satisfies OperationTable;
