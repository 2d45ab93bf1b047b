import type { Kind, Records } from '../../../src/store/index.ts';
import { encodeWrite } from '../../../src/store/postgres/encode-commit.ts';
import type { Sql } from '../../../src/store/postgres/sql.ts';

/** Inserts a record without a store, in the transaction of the connection. */
export async function insertRow<K extends Kind>(sql: Sql, kind: K, record: Omit<Records[K], 'version'>): Promise<void> {
	const { fields } = encodeWrite({ op: 'insert', kind, record } as Parameters<typeof encodeWrite>[0]);
	await sql.run('SELECT write_record(@op, @kind, @id, @fields)', {
		...{ op: 'insert', kind, id: (record as { id: string }).id },
		fields: JSON.stringify(fields),
	});
}

export async function insertRows<K extends Kind>(
	sql: Sql,
	kind: K,
	records: ReadonlyArray<Omit<Records[K], 'version'>>,
): Promise<void> {
	for (const record of records) await insertRow(sql, kind, record);
}
