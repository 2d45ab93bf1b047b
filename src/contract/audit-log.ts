import { type Static, Type } from 'typebox';
import { type OperationTable, withKey } from './operation.ts';
import { NullableText, OneOf, PageOf, PageQueryWith, Strict, Timestamp } from './shapes.ts';

const filter = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 100, description }));

export const AuditLogRecord = Type.Object({
	id: Type.String({ examples: ['aud_06gzhmza00001mjww6bbdevcx5ss2c8f'] }),
	created_at: Timestamp,
	actor: Type.Object({
		type: OneOf(['user', 'api_key']),
		id: Type.String({ examples: ['user_06gzhmza00001mjww6bbdevcx5ss2c8f'] }),
		name: Type.String({ description: 'At the time of the change.', examples: ['Ada'] }),
	}),
	action: Type.String({
		description:
			'The operationId of the operation; `completeErasure` for the end of an erasure, `refusePassword` and `refuseSecondFactor` for a sign-in with a wrong password or code, of which the actor is the account that was tried; `refuseOidcSignIn` for a refused sign-in by the identity provider, which ends the sessions of the account.',
		examples: ['updateAssistant'],
	}),
	resource: Type.Object({
		type: NullableText({ description: 'The kind of the resource; null if its id has no known form.' }),
		id: Type.String({ examples: ['asst_06gzhmza00001mjww6bbdevcx5ss2c8f'] }),
		name: NullableText({
			description:
				'At the time of the change. Null where the response did not show it, and for conversations, because visitors write their titles.',
		}),
	}),
	fields: Type.Array(Type.String(), {
		description:
			'The names of the fields and parameters that the request had; never their values. For the change of an account by a sign-in at the identity provider, the fields of the account.',
		examples: [['name', 'model']],
	}),
	details: Type.Unsafe<Record<string, unknown> | null>({
		type: ['object', 'null'],
		additionalProperties: true,
		description: 'The receipt of an erasure: the action `completeErasure`. Null for all others.',
	}),
	path: Type.String({
		description: 'The path of the request.',
		examples: ['/api/v1/assistants/asst_06gzhmza00001mjww6bbdevcx5ss2c8f'],
	}),
	request_id: Type.String({ description: 'The `X-Request-Id` of the response.' }),
	address: Type.String({ description: 'The client’s address.', examples: ['203.0.113.7'] }),
});
export type AuditLogRecord = Static<typeof AuditLogRecord>;

const filters = {
	actor: filter('Only changes of this user or key, by its id.'),
	action: filter('Only this action.'),
	resource: filter('Only changes of this resource, by its id.'),
	created_after: Type.Optional(Type.String({ format: 'date-time', description: 'Only changes after this time.' })),
	created_before: Type.Optional(Type.String({ format: 'date-time', description: 'Only changes before this time.' })),
};

export const AuditLogQuery = PageQueryWith(filters);

export const AuditLogExportQuery = Strict({
	format: Type.Optional(OneOf(['jsonl', 'csv'], { default: 'jsonl', description: 'The form of the file.' })),
	...filters,
});

/** The audit log. */
export const auditLogOperations = {
	listAuditLog: {
		method: 'GET',
		path: '/api/v1/audit-log',
		summary: 'List the audit log',
		description:
			'Who has changed what, and when. Each change that a person or a program makes through the API leaves one record, which is committed with the change. So does each export of this log and of an [end user](#operation/exportEndUser). A request that changes nothing leaves none; nor do the messages of conversations, their ratings, and requests of visitors. The end of an [erasure](#operation/eraseEndUser) leaves another record, with its receipt. Of wrong codes of a second factor, the first in an hour leaves a record for its account. Records are kept for 400 days.',
		tag: 'Audit log',
		access: withKey('settings:read'),
		query: AuditLogQuery,
		result: PageOf(AuditLogRecord),
	},
	exportAuditLog: {
		method: 'GET',
		path: '/api/v1/audit-log/export',
		summary: 'Export the audit log',
		description:
			'The records that the filters show, oldest first, as a file: JSON Lines with one record a line as the list shows it, or CSV (RFC 4180, UTF-8 with a byte order mark) with a line of column names. A CSV cell that a spreadsheet would read as a formula begins with an apostrophe. The file is read while it is sent, and the export itself leaves a record.',
		tag: 'Audit log',
		access: withKey('settings:read'),
		audited: true,
		query: AuditLogExportQuery,
		download: 'application/jsonl',
		textForm: 'text/csv',
		result: Type.Unsafe<never>({
			type: 'string',
			examples: [
				'{"id":"aud_06gzhmza00001mjww6bbdevcx5ss2c8f","created_at":"2025-01-01T00:00:00.000Z","action":"updateAssistant"}\n',
			],
		}),
	},
} as const satisfies OperationTable;
