import type { Sql } from '../../../src/store/postgres/sql.ts';
import { countErasedConversation, eraseQuestions, recordExpiry } from '../../../src/store/postgres/statistics/index.ts';
import type { StatisticsErasures } from '../contract/statistics.ts';
import { inTransaction } from './transactions.ts';

/** Erases a conversation as far as statistics and the inbox are concerned. Returns how many questions it had. */
export async function eraseConversation(sql: Sql, id: string): Promise<number> {
	await countErasedConversation(sql, id);
	const questions = await eraseQuestions(sql, id);
	await sql.run('DELETE FROM conversations WHERE id = @id', { id });
	await sql.run('DELETE FROM inbox_rows WHERE conversation_id = @id', { id });
	await sql.run('DELETE FROM messages WHERE conversation_id = @id', { id });
	await sql.run('DELETE FROM events WHERE subject = @id', { id });
	return questions;
}

/** What statistics have of erasures, in transactions of another node. */
export function erasuresOf(url: () => Promise<string>): StatisticsErasures {
	return {
		erase: async (_store, id) => inTransaction(await url(), (sql) => eraseConversation(sql, id)),
		expire: async (_store, before) =>
			inTransaction(await url(), async (sql) => {
				await recordExpiry(sql, before);
				await sql.run('DELETE FROM events WHERE created_at < @before', { before });
			}),
	};
}
