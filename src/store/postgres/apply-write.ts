import { eraseConversation, eraseRefusals } from './conversation-erasure.ts';
import { applyDeliveryWrite } from './deliveries.ts';
import type { ComposedWrite } from './encode-commit.ts';
import { endErasure } from './erasures.ts';
import { eraseExpiredEvents } from './expired-events.ts';
import { eraseExpiredRecords } from './expired-records.ts';
import { applyInboxWrite } from './inbox/index.ts';
import { eraseKnowledgeBase } from './knowledge-base-erasure.ts';
import { IS_SEALED } from './readers/idempotency.ts';
import { applyIndexWrite } from './search/index.ts';
import { applySourceWrite } from './source-pages.ts';
import { applySpendingWrite } from './spending/index.ts';
import type { Sql } from './sql.ts';
import { applyStatisticsWrite } from './statistics/index.ts';

/** Carries out a write that is more than one record, inside the caller's transaction. */
export async function applyWrite(sql: Sql, write: ComposedWrite): Promise<void> {
	switch (write.op) {
		case 'erase_rounds':
			await sql.run('DELETE FROM reply_rounds WHERE message_id = @id', { id: write.message_id });
			await sql.run('DELETE FROM reply_calls WHERE message_id = @id', { id: write.message_id });
			return;
		case 'erase_conversation':
			await eraseConversation(sql, write.id, write.limit);
			return;
		case 'end_erasure':
			await endErasure(sql, write.id, write.at);
			return;
		case 'erase_refusals':
			await eraseRefusals(sql, write.erasure_id, write.scopes);
			return;
		case 'erase_knowledge_base':
			await eraseKnowledgeBase(sql, write.id);
			return;
		case 'end_sessions':
			await sql.run('DELETE FROM sessions WHERE user_id = @user_id AND id IS DISTINCT FROM @except', {
				user_id: write.user_id,
				except: write.except,
			});
			return;
		case 'erase_expired':
			await eraseExpiredRecords(sql, write.before, write.limit);
			return;
		case 'erase_sealed_responses':
			await sql.run(`DELETE FROM idempotency WHERE ${IS_SEALED}`);
			return;
		case 'erase_events':
			await eraseExpiredEvents(sql, write.before, write.limit);
			return;
		case 'cancel_deliveries':
		case 'erase_deliveries':
		case 'redeliver':
			await applyDeliveryWrite(sql, write);
			return;
		case 'sources.clear_frontier':
		case 'sources.find_pages':
		case 'sources.find_duplicates':
		case 'sources.remove_sitemaps':
		case 'sources.erase':
			await applySourceWrite(sql, write);
			return;
		case 'spending.erase_visitors':
		case 'spending.settle_abandoned':
			await applySpendingWrite(sql, write);
			return;
		case 'inbox.project':
		case 'inbox.refresh':
		case 'inbox.read':
		case 'inbox.read_before':
		case 'inbox.rebuild':
			await applyInboxWrite(sql, write);
			return;
		case 'statistics.project':
		case 'statistics.rebuild':
		case 'statistics.trim':
		case 'statistics.group':
			await applyStatisticsWrite(sql, write);
			return;
		default:
			await applyIndexWrite(sql, write);
	}
}
