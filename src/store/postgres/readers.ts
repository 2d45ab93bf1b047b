import type { Readers } from '../readers.ts';
import { PostgresAccessReader } from './readers/access.ts';
import { PostgresAssistantsReader } from './readers/assistants.ts';
import { PostgresConversationsReader } from './readers/conversations.ts';
import { PostgresDeliveriesReader } from './readers/deliveries.ts';
import { PostgresDocumentsReader } from './readers/documents.ts';
import { PostgresEndUsersReader } from './readers/end-users.ts';
import { PostgresEventsReader } from './readers/events.ts';
import { PostgresIdempotencyReader } from './readers/idempotency.ts';
import { PostgresInboxReader } from './readers/inbox.ts';
import { PostgresRecordsReader } from './readers/records.ts';
import { PostgresSearchIndexReader } from './readers/search-index.ts';
import { PostgresSourcesReader } from './readers/sources.ts';
import { PostgresSpendingReader } from './readers/spending.ts';
import { PostgresStatisticsReader } from './readers/statistics.ts';
import type { Sql } from './sql.ts';

/** Everything that reads, from a pool of connections. */
export class PostgresReaders extends PostgresRecordsReader implements Readers {
	readonly assistants: PostgresAssistantsReader;
	readonly conversations: PostgresConversationsReader;
	readonly access: PostgresAccessReader;
	readonly documents: PostgresDocumentsReader;
	readonly sources: PostgresSourcesReader;
	readonly deliveries: PostgresDeliveriesReader;
	readonly endUsers: PostgresEndUsersReader;
	readonly events: PostgresEventsReader;
	readonly idempotency: PostgresIdempotencyReader;
	readonly spending: PostgresSpendingReader;
	readonly inbox: PostgresInboxReader;
	readonly statistics: PostgresStatisticsReader;
	readonly searchIndex: PostgresSearchIndexReader;

	constructor(sql: Sql) {
		super(sql);
		this.assistants = new PostgresAssistantsReader(sql);
		this.conversations = new PostgresConversationsReader(sql);
		this.access = new PostgresAccessReader(sql);
		this.documents = new PostgresDocumentsReader(sql);
		this.sources = new PostgresSourcesReader(sql);
		this.deliveries = new PostgresDeliveriesReader(sql);
		this.endUsers = new PostgresEndUsersReader(sql);
		this.events = new PostgresEventsReader(sql);
		this.idempotency = new PostgresIdempotencyReader(sql);
		this.spending = new PostgresSpendingReader(sql);
		this.inbox = new PostgresInboxReader(sql);
		this.statistics = new PostgresStatisticsReader(sql);
		this.searchIndex = new PostgresSearchIndexReader(sql);
	}
}
