import type { InboxRow } from '../../inbox.ts';
import { type InboxStep, ROWS_PER_STEP } from '../../inbox-page.ts';
import type { ListPosition } from '../../readers.ts';
import {
	type IndexQuery,
	PERIOD_DAYS,
	periodLexeme,
	periodStart,
	placeLexeme,
	quoteLexeme,
} from '../inbox/message-index.ts';
import type { Sql, Values } from '../sql.ts';
import { INBOX_COLUMNS, WITH_READS } from './inbox-columns.ts';

/** A message that matches, with the inbox row of its conversation. All fields of the row are null where there is none. */
export interface Hit extends InboxRow {
	message_id: string;
	created_at: number;
	/** Whether an earlier page has shown the conversation, because a newer message of it matches. */
	is_shown: boolean;
}

/** The position of a hit in the order of time. */
export const positionOf = ({ created_at, message_id }: Hit): ListPosition => ({ at: created_at, id: message_id });

/** SQL: a message has the phrases of a search. `@phrases` may be empty. */
const hasPhrases = (table: string) =>
	`(SELECT bool_and(strpos(${table}.words, phrase) > 0) FROM unnest(@phrases::text[]) AS phrase) IS NOT FALSE`;

const HITS = `SELECT hit.message_id, hit.created_at, ${INBOX_COLUMNS},
	CASE WHEN @after_at::bigint IS NULL THEN false ELSE EXISTS (
		SELECT 1 FROM searchable_messages AS newer
		WHERE newer.conversation_id = hit.conversation_id AND (newer.created_at, newer.message_id) >= (@after_at, @after_id)
		AND newer.lexemes @@ @terms::tsquery AND ${hasPhrases('newer')}
	) END AS is_shown
	FROM (
		SELECT message_id, conversation_id, created_at FROM searchable_messages AS message
		WHERE lexemes @@ @query::tsquery AND (created_at, message_id) < (@at, @id) AND ${hasPhrases('message')}
		ORDER BY created_at DESC, message_id DESC LIMIT ${ROWS_PER_STEP}
	) AS hit LEFT JOIN inbox_rows AS rows ON rows.conversation_id = hit.conversation_id ${WITH_READS}
	ORDER BY hit.created_at DESC, hit.message_id DESC`;

/**
 * Reads the messages that match, the newest first. Each step reads a part of one period. After a period that has fewer hits than a step
 * holds, the next is longer.
 */
export class MessageSearch {
	readonly #sql: Sql;
	readonly #workspaceId: string;
	readonly #terms: string;
	readonly #values: Values;
	#level = 0;

	/** @param after the last hit of the page before */
	constructor(sql: Sql, workspaceId: string, query: IndexQuery, reader: string, after: ListPosition | undefined) {
		this.#sql = sql;
		this.#workspaceId = workspaceId;
		this.#terms = query.parts.join(' & ');
		this.#values = {
			...{ terms: this.#terms, phrases: query.phrases, reader },
			...{ after_at: after?.at ?? null, after_id: after?.id ?? null },
		};
	}

	/** The next hits after a position. */
	async step(position: ListPosition): Promise<InboxStep<Hit>> {
		const days = PERIOD_DAYS[this.#level];
		const newest = days === undefined ? undefined : await this.#newestAfter(position);
		if (days !== undefined && newest === undefined) return { items: [], next: null };
		const period = days === undefined || newest === undefined ? [] : [periodLexeme(days, newest)];
		const places = [placeLexeme(this.#workspaceId), ...period].map(quoteLexeme);
		const query = [...places, this.#terms].join(' & ');
		const items = await this.#sql.all<Hit>(HITS, { ...this.#values, ...position, query });
		const last = items.length < ROWS_PER_STEP ? undefined : items.at(-1);
		if (last !== undefined) return { items, next: positionOf(last) };
		this.#level++;
		const next = days === undefined || newest === undefined ? null : { at: periodStart(days, newest), id: '' };
		return { items, next };
	}

	/** The time of the newest message after a position; undefined: there is none. */
	async #newestAfter({ at, id }: ListPosition): Promise<number | undefined> {
		const found = await this.#sql.get<{ created_at: number }>(
			`SELECT created_at FROM searchable_messages WHERE workspace_id = @workspace_id AND (created_at, message_id) < (@at, @id)
			 ORDER BY created_at DESC, message_id DESC LIMIT 1`,
			{ workspace_id: this.#workspaceId, at, id },
		);
		return found?.created_at;
	}
}
