import { type Static, Type } from 'typebox';
import { type OperationTable, SMALL_BODY, withKey } from './operation.ts';
import {
	NullableObject,
	NullableText,
	NullableTimestamp,
	OneOf,
	PageOf,
	PageQuery,
	Strict,
	Timestamp,
} from './shapes.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });
const end_user_id = Type.String({
	minLength: 1,
	maxLength: 500,
	description: 'The subject (`sub`) of the visitor’s tokens.',
	examples: ['customer-4711'],
});

export const ErasureCounts = Type.Object(
	{
		conversations: count('With their titles, metadata, and the visitor’s name and e-mail address.'),
		messages: count('Questions and replies, with citations, tool calls and ratings.'),
		reply_rounds: count('Parts of replies that were being written.'),
		notes: count('Internal notes.'),
		events: count('Of the event log and of the conversations’ streams. Deliveries are rendered from them.'),
		deliveries: count('To webhook endpoints.'),
		delivery_attempts: count('With the beginnings of the endpoints’ responses.'),
		stored_responses: count('Stored under an `Idempotency-Key`.'),
		search_entries: count('Messages in the index of the inbox.'),
		inbox_rows: count('Rows of the inbox, and who has read them.'),
		unanswered_questions: count('Questions without an answer in the statistics.'),
		cost_rows: count(
			'Of the visitor’s costs: sums by day, reservations of replies, and notices that a budget was reported.',
		),
	},
	{ description: 'What was removed, by its place. Visitors upload no files, so there are none.' },
);

export const Erasure = Type.Object({
	id: Type.String({ examples: ['era_06gzhmza00001mjww6bbdevcx5ss2c8f'] }),
	status: OneOf(['erasing', 'overwriting', 'done'], {
		description:
			'`erasing`: rows are removed, and messages of the end user are refused. `overwriting`: the rows are removed, and what stays of them in the files is overwritten. `done`: nothing is left in the data folder, apart from copies that `backups` names. On PostgreSQL, its files, log and backups keep deleted rows for a while: see docs/security.md.',
	}),
	counts: ErasureCounts,
	created_at: Timestamp,
	erased_at: NullableTimestamp,
	completed_at: NullableTimestamp,
	backups: NullableObject(
		Type.Object({
			backups_gone_at: NullableText({
				format: 'date-time',
				description:
					'When the server has deleted its backups that have the data, if it makes them as configured; null: it makes none. It does not know of backups that others made.',
			}),
			upgrade_copies_gone_at: NullableText({
				format: 'date-time',
				description:
					'When it has deleted the copies of the database from before an upgrade, and of damaged logs; null: there is none.',
			}),
		}),
		{ description: 'Copies that have the data. Null until the erasure is done.' },
	),
});
export type Erasure = Static<typeof Erasure>;

export const ErasureCreate = Strict({ end_user_id });

/** Erasure and export of end users. */
export const erasureOperations = {
	eraseEndUser: {
		method: 'POST',
		path: '/api/v1/erasures',
		summary: 'Erase an end user for good',
		description:
			'Erases all conversations of an end user with everything that belongs to them, in the background: read the erasure until it is `done`. Replies that are being written end, and open streams are closed. An erasure has no personal data: not even the end user’s id. While one is `erasing`, the same request returns it. Figures of the statistics stay, because they are sums. Conversations of visitors without a token belong to no end user: delete them with `purge`.',
		tag: 'Privacy',
		access: withKey('conversations:write'),
		body: ErasureCreate,
		maxBodyBytes: SMALL_BODY,
		status: 201,
		result: Erasure,
	},
	listErasures: {
		method: 'GET',
		path: '/api/v1/erasures',
		summary: 'List erasures',
		tag: 'Privacy',
		access: withKey('conversations:read'),
		query: PageQuery,
		result: PageOf(Erasure),
	},
	getErasure: {
		method: 'GET',
		path: '/api/v1/erasures/{id}',
		summary: 'Get an erasure with its receipt',
		description: 'The receipt is in the audit log, too: action `completeErasure`.',
		tag: 'Privacy',
		access: withKey('conversations:read'),
		result: Erasure,
	},
	exportEndUser: {
		method: 'GET',
		path: '/api/v1/end-users/export',
		summary: 'Export what is stored about an end user',
		description:
			'A file of JSON Lines, each `{"type": …, "resource": …}`: the first names the format and its version, the last counts the lines, so that a part of a file is recognised. Between them each conversation (`conversation`) is followed by what belongs to it: `message` and `note` as the API shows them, `event` (`id`, `type`, `created_at`, `data`) of the event log and of its stream, `delivery` with all attempts, `stored_response` (`idempotency_key`, `status`, `body`, `expires_at`) and `unanswered_question` (`message_id`, `question`, `asked_at`). At last come, for each deployment, the `event`s about the visitor’s budget with their deliveries, and the sums of the visitor’s costs: a `cost` (`day`, `deployment_id`, `visitor_id`, `cost_micros`, `reserved_micros`) for each day. The file is read while it is sent. An API key needs `conversations:read` and `webhooks:read`. The export leaves a record in the audit log, without the end user’s id.',
		tag: 'Privacy',
		access: withKey('conversations:read'),
		audited: true,
		query: Strict({ end_user_id }),
		download: 'application/jsonl',
		result: Type.Unsafe<never>({
			type: 'string',
			examples: [
				'{"type":"export","resource":{"format":"parley-end-user","version":1,"started_at":"2025-01-01T00:00:00.000Z","end_user_id":"customer-4711"}}\n',
			],
		}),
	},
} as const satisfies OperationTable;
