import { kinds } from '../columns/columns.ts';

/** A table of PostgreSQL and where its rows are in the embedded database. */
export interface ImportedTable {
	name: string;
	/** The columns that order its rows, and tell them apart. */
	key: readonly string[];
	/** SQL of the embedded database: a table or a join in which the main table is `t`. Default: the table of the same name. */
	from?: string;
	/** SQL for columns that have another value than the column of the same name. */
	columns?: Readonly<Record<string, string>>;
	/** Columns that the rows of the embedded database do not have: they are computed from the row. */
	computed?: readonly ('term_count' | 'added_chunks' | 'added_terms')[];
	/** Its rows are in the tables of several bases. */
	isOfBases?: true;
	/** A new database has its only row already. */
	replacesRow?: true;
}

const ofKind = (name: string): ImportedTable => ({ name, key: ['id'] });

/** The number that an AUTOINCREMENT has given last. */
const lastNumber = (table: string) => `coalesce((SELECT seq FROM sqlite_sequence WHERE name = '${table}'), 0)`;

/** Every table whose rows are copied, in the order of the copy. */
export const IMPORTED_TABLES: readonly ImportedTable[] = [
	...kinds().map(ofKind),
	{ name: 'events', key: ['seq'] },
	// A position that a client has seen stays below every later event.
	{ name: 'log_end', key: ['id'], from: `(SELECT 1 AS id, ${lastNumber('events')} AS seq) AS t`, replacesRow: true },
	// The claims of a server end with it.
	{ name: 'jobs', key: ['id'], columns: { lease_epoch: '0', lease_until: '0' } },
	{ name: 'idempotency', key: ['scope', 'key'] },
	{ name: 'webhook_failures', key: ['webhook_id'] },
	{ name: 'inbox_progress', key: ['id'], replacesRow: true },
	{ name: 'inbox_rows', key: ['conversation_id'] },
	{ name: 'inbox_reads', key: ['reader', 'conversation_id'] },
	{ name: 'inbox_readers', key: ['reader'] },
	{ name: 'statistics_state', key: ['id'], replacesRow: true },
	{
		name: 'figures',
		key: ['workspace_id', 'series', 'start', 'figure', 'key', 'deployment_id', 'assistant_id'],
	},
	{ name: 'cited_documents', key: ['document_id'] },
	{ name: 'unanswered_questions', key: ['message_id'] },
	{ name: 'spending', key: ['workspace_id', 'dimension', 'account', 'day'] },
	// The server that made them has ended.
	{ name: 'spending_reservations', key: ['message_id'], columns: { node_epoch: '0' } },
	{ name: 'generations', key: ['id'], computed: ['added_chunks', 'added_terms'] },
	{ name: 'bases', key: ['id'], columns: { seq: 't.rowid' } },
	{ name: 'indexed_documents', key: ['seq'] },
	{ name: 'generation_languages', key: ['generation', 'language'] },
	{
		name: 'chunks',
		key: ['id'],
		// The order of the join keeps the rows in the order of their ids.
		from: 'chunks AS t CROSS JOIN indexed_documents AS d ON d.seq = t.document',
		columns: { generation: 'd.generation' },
		computed: ['term_count'],
	},
	{ name: 'vectors', key: ['basis', 'chunk'], isOfBases: true },
];

/** The files of documents as a part of the import. */
export const FILES_PART = 'files';
/** The search of the inbox as a part of the import. */
export const SEARCH_PART = 'searchable_messages';

/** Tables of the embedded database that are not copied row by row, each with the reason. A name may end with `*`. */
export const DERIVED_SOURCE_TABLES: Readonly<Record<string, string>> = {
	fences: 'Nodes and shards of a cluster have epochs of their own.',
	sqlite_sequence: 'Its numbers are in log_end, and in the sequences of PostgreSQL.',
	searchable_messages: 'PostgreSQL has another index of messages. It is made from the messages.',
	'message_search*': 'PostgreSQL has another index of messages. It is made from the messages.',
	'fts_*': 'Nodes rank the terms of the chunks in memory. The totals of the table are in generations.',
	'terms_*': 'A view of the full-text table of a generation.',
	'vec_*': 'The vectors of a basis. They are copied to vectors.',
};

/** Tables of PostgreSQL that the embedded database does not have, each with the reason. */
export const OWN_TARGET_TABLES: Readonly<Record<string, string>> = {
	schema_version: 'The schema of PostgreSQL has its own versions.',
	writers: 'The writers of the nodes.',
	nodes: 'The nodes of the cluster.',
	shards: 'The shards of the cluster.',
	expiry_progress: 'How far events were looked at for expiry, which begins again.',
	removed_chunks: 'What nodes must remove from their memory. They have nothing of the copy in memory yet.',
	blobs: 'The files of the data folder. They are copied as files.',
	blob_chunks: 'The bytes of these files.',
	blob_uploads: 'Uploads under way. There are none.',
	searchable_messages: 'The search of the inbox. It is made from the messages.',
	dropped_indexes: 'Indexes whose rows are still to be removed. The copy has none.',
	limited_attempts: 'Attempts to sign in of the last hour. The embedded server counts them in its memory.',
	used_requests: 'What the nodes have used of rate limits in the last seconds.',
	imports: 'The state of the import.',
	import_progress: 'The progress of the import.',
};
