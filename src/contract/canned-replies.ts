import { type Static, Type } from 'typebox';
import { type OperationTable, withKey } from './operation.ts';
import { SHORTCUT } from './patterns.ts';
import { Deleted, PageOf, PageQuery, Patch, Strict, Timestamp } from './shapes.ts';
import { MultilineText } from './text-shapes.ts';

const shortcut = Type.String({
	maxLength: 40,
	pattern: SHORTCUT,
	description: 'What a person types after "/". Unique in the workspace, whatever its case.',
	examples: ['hours'],
});
const content = MultilineText({ maxLength: 10_000, examples: ['We are open from ten to six, Monday to Saturday.'] });

/** A text that people of the workspace insert into their replies. */
export const CannedReply = Type.Object({
	id: Type.String(),
	shortcut,
	content,
	created_at: Timestamp,
	updated_at: Timestamp,
});
export type CannedReply = Static<typeof CannedReply>;

export const CannedReplyCreate = Strict({ shortcut, content });
export const CannedReplyPatch = Patch({ shortcut, content });
export type CannedReplyPatch = Static<typeof CannedReplyPatch>;

/** Canned replies. */
export const cannedReplyOperations = {
	listCannedReplies: {
		method: 'GET',
		path: '/api/v1/canned-replies',
		summary: 'List canned replies',
		tag: 'Canned replies',
		access: withKey('conversations:read'),
		query: PageQuery,
		result: PageOf(CannedReply),
	},
	createCannedReply: {
		versioned: true,
		method: 'POST',
		path: '/api/v1/canned-replies',
		summary: 'Create a canned reply',
		description: 'A workspace has at most 500.',
		tag: 'Canned replies',
		access: withKey('conversations:write'),
		body: CannedReplyCreate,
		errors: ['plan_limit_exceeded'],
		status: 201,
		result: CannedReply,
	},
	getCannedReply: {
		versioned: true,
		method: 'GET',
		path: '/api/v1/canned-replies/{id}',
		summary: 'Get a canned reply',
		tag: 'Canned replies',
		access: withKey('conversations:read'),
		result: CannedReply,
	},
	updateCannedReply: {
		versioned: true,
		method: 'PATCH',
		path: '/api/v1/canned-replies/{id}',
		summary: 'Change a canned reply',
		tag: 'Canned replies',
		access: withKey('conversations:write'),
		body: CannedReplyPatch,
		result: CannedReply,
	},
	deleteCannedReply: {
		method: 'DELETE',
		path: '/api/v1/canned-replies/{id}',
		summary: 'Delete a canned reply',
		tag: 'Canned replies',
		access: withKey('conversations:write'),
		result: Deleted,
	},
} as const satisfies OperationTable;
