import type { Readers } from '../readers.ts';
import { PostgresEventsReader } from './readers/events.ts';
import { PostgresIdempotencyReader } from './readers/idempotency.ts';
import { PostgresRecordsReader } from './readers/records.ts';
import type { Sql } from './sql.ts';

/** Everything that reads, from a pool of connections. */
export class PostgresReaders extends PostgresRecordsReader implements Readers {
	readonly events: PostgresEventsReader;
	readonly idempotency: PostgresIdempotencyReader;
	declare readonly assistants: Readers['assistants'];
	declare readonly conversations: Readers['conversations'];
	declare readonly access: Readers['access'];
	declare readonly documents: Readers['documents'];
	declare readonly sources: Readers['sources'];
	declare readonly searchIndex: Readers['searchIndex'];
	declare readonly deliveries: Readers['deliveries'];
	declare readonly endUsers: Readers['endUsers'];
	declare readonly inbox: Readers['inbox'];
	declare readonly statistics: Readers['statistics'];
	declare readonly spending: Readers['spending'];

	constructor(sql: Sql) {
		super(sql);
		this.events = new PostgresEventsReader(sql);
		this.idempotency = new PostgresIdempotencyReader(sql);
	}
}
