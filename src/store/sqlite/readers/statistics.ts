import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { DocumentRecord } from '../../knowledge-records.ts';
import type {
	FigureQuery,
	FigureSum,
	ListPosition,
	StatisticsReader,
	UnansweredGroup,
	UnansweredGroupQuery,
	UnansweredQuestion,
} from '../../readers.ts';
import type { Prepare } from '../statements.ts';
import { LIST_START } from './list.ts';

/** Hours or days whose figures are summed in one step, before the event loop may go on. */
const BUCKETS_PER_STEP = 12;
const QUESTION = 'message_id, workspace_id, conversation_id, assistant_id, question, asked_at';

/** Queries about statistics. */
export class SqliteStatisticsReader implements StatisticsReader {
	readonly #prepare: Prepare;

	constructor(prepare: Prepare) {
		this.#prepare = prepare;
	}

	async position(): Promise<number> {
		return this.#prepare('SELECT seq FROM statistics_state').pluck().get() as number;
	}

	async *figures({
		workspaceId,
		series,
		from,
		to,
		deploymentId,
		assistantId,
	}: FigureQuery): AsyncIterable<FigureSum[]> {
		const length = series === 'hour' ? 3_600_000 : 86_400_000;
		const filter = { deploymentId: deploymentId ?? null, assistantId: assistantId ?? null };
		const sums = this.#prepare(
			`SELECT start, figure, key, sum(logged + erased) AS value FROM figures
			 WHERE workspace_id = @workspaceId AND series = @series AND start >= @from AND start < @to
			 AND (@deploymentId IS NULL OR deployment_id = @deploymentId) AND (@assistantId IS NULL OR assistant_id = @assistantId)
			 GROUP BY start, figure, key`,
		);
		for (let start = from; start < to; start += BUCKETS_PER_STEP * length) {
			if (start > from) await yieldToEventLoop();
			const end = Math.min(to, start + BUCKETS_PER_STEP * length);
			yield sums.all({ workspaceId, series, from: start, to: end, ...filter }) as FigureSum[];
		}
	}

	async citedDocuments(
		knowledgeBaseId: string,
		after: ListPosition = LIST_START,
		limit: number,
	): Promise<Array<Pick<DocumentRecord, 'id' | 'title' | 'created_at'> & { isCited: boolean }>> {
		const rows = this.#prepare(
			`SELECT id, title, created_at, EXISTS (SELECT 1 FROM cited_documents WHERE document_id = documents.id) AS isCited
			 FROM documents WHERE knowledge_base_id = ? AND status = 'indexed' AND (created_at, id) > (?, ?)
			 ORDER BY created_at, id LIMIT ?`,
		).all(knowledgeBaseId, after.at, after.id, limit) as Array<DocumentRecord & { isCited: 0 | 1 }>;
		return rows.map((row) => ({ ...row, isCited: row.isCited === 1 }));
	}

	async ungrouped(limit: number): Promise<UnansweredQuestion[]> {
		return this.#prepare(
			`SELECT ${QUESTION} FROM unanswered_questions WHERE group_id IS NULL ORDER BY asked_at, message_id LIMIT ?`,
		).all(limit) as UnansweredQuestion[];
	}

	async groupTerms(workspaceId: string): Promise<Array<{ group_id: string; terms: string[] }>> {
		const rows = this.#prepare(
			`SELECT groups.id AS group_id, (
				SELECT terms FROM unanswered_questions WHERE group_id = groups.id ORDER BY asked_at, message_id LIMIT 1
			 ) AS terms
			 FROM question_groups AS groups WHERE workspace_id = ? AND status <> 'resolved' ORDER BY created_at, id`,
		).all(workspaceId) as Array<{ group_id: string; terms: string | null }>;
		return rows.map(({ group_id, terms }) => ({ group_id, terms: JSON.parse(terms ?? '[]') }));
	}

	async unansweredGroup(groupId: string): Promise<UnansweredGroup | undefined> {
		return this.#prepare(
			`SELECT group_id AS id, count(*) AS count, min(asked_at) AS first_at, max(asked_at) AS last_at
			 FROM unanswered_questions WHERE group_id = ? GROUP BY group_id`,
		).get(groupId) as UnansweredGroup | undefined;
	}

	async unansweredGroups({
		workspaceId,
		status,
		limit,
		assistantId,
		after,
	}: UnansweredGroupQuery): Promise<UnansweredGroup[]> {
		return this.#prepare(
			`SELECT groups.id, count(*) AS count, min(asked_at) AS first_at, max(asked_at) AS last_at
			 FROM question_groups AS groups JOIN unanswered_questions ON group_id = groups.id
			 WHERE groups.workspace_id = @workspaceId AND groups.status = @status
			 AND (@assistantId IS NULL OR assistant_id = @assistantId)
			 GROUP BY groups.id
			 HAVING @id IS NULL OR (-count(*), -max(asked_at), groups.id) > (-@count, -@lastAt, @id)
			 ORDER BY count DESC, last_at DESC, groups.id LIMIT @limit`,
		).all({
			...{ workspaceId, status, limit, assistantId: assistantId ?? null },
			...{ id: after?.id ?? null, count: after?.count ?? 0, lastAt: after?.last_at ?? 0 },
		}) as UnansweredGroup[];
	}

	async questionsOf(groupId: string, limit: number): Promise<UnansweredQuestion[]> {
		return this.#prepare(
			`SELECT ${QUESTION} FROM unanswered_questions WHERE group_id = ? ORDER BY asked_at DESC, message_id DESC LIMIT ?`,
		).all(groupId, limit) as UnansweredQuestion[];
	}
}
