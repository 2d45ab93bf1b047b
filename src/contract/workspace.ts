import { type Static, Type } from 'typebox';
import { type OperationTable, withKey } from './operation.ts';
import { NullableInteger, Patch, Timestamp } from './shapes.ts';
import { SingleLineText } from './text-shapes.ts';

const name = SingleLineText({ maxLength: 200, examples: ['Ada'] });
const retention_days = NullableInteger({
	minimum: 1,
	maximum: 36_500,
	description:
		'Days for which conversations are kept after their last message, whatever their status. After that they are erased for good, without an event, and their open streams end. A change takes effect within a minute. Null: for ever.',
});

export const Workspace = Type.Object({
	id: Type.String(),
	name,
	plan: Type.String({
		description: 'The plan, which sets the workspace’s limits. The server’s operator sets it.',
		examples: ['unlimited'],
	}),
	retention_days,
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

export const WorkspacePatch = Patch({ name, retention_days });
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
	getWorkspaceUsage: {
		method: 'GET',
		path: '/api/v1/workspace/usage',
		summary: 'Get the use of the plan',
		tag: 'Workspace',
		access: withKey('settings:read'),
		result: WorkspaceUsage,
	},
} as const satisfies OperationTable;
