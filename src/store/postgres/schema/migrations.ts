import { BLOB_TABLES } from './blobs.ts';
import { CONVERSATION_TABLES } from './conversations.ts';
import { DERIVED_TABLES } from './derived.ts';
import { IMPORT_TABLES } from './imports.ts';
import { KNOWLEDGE_TABLES } from './knowledge.ts';
import { LIMIT_TABLES } from './limits.ts';
import { LOG_TABLES } from './log.ts';
import { MESSAGE_SEARCH_TABLES } from './message-search.ts';
import { PLACEMENT_TABLES } from './placement.ts';
import { SEARCH_TABLES } from './search.ts';
import { WORKSPACE_TABLES } from './workspace.ts';
import { WRITER_TABLES } from './writers.ts';

/**
 * The steps from an empty database to the current schema, in order. A released step is never edited. Each leaves tables that the
 * version before can still use: it adds, and what is no longer used is removed one version later.
 */
export const MIGRATIONS: readonly string[] = [
	[
		WRITER_TABLES,
		PLACEMENT_TABLES,
		WORKSPACE_TABLES,
		KNOWLEDGE_TABLES,
		CONVERSATION_TABLES,
		LOG_TABLES,
		DERIVED_TABLES,
		BLOB_TABLES,
		MESSAGE_SEARCH_TABLES,
		SEARCH_TABLES,
		LIMIT_TABLES,
		IMPORT_TABLES,
	].join('\n'),
];

/** The schema version that this program knows. */
export const SCHEMA_VERSION = MIGRATIONS.length;
