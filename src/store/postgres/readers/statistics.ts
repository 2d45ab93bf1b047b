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
import type { Sql } from '../sql.ts';

/** Hours or days whose figures are summed by one query. It bounds how many rows arrive at once. */
const BUCKETS_PER_STEP = 31;
const QUESTION = 'message_id, workspace_id, conversation_id, assistant_id, question, asked_at';
/** The position before every item of a list in order of creation. */
const LIST_START: ListPosition = { at: 0, id: '' };

/** Queries about statistics. */
export class PostgresStatisticsReader implements StatisticsReader {
	readonly #sql: Sql;

	constructor(sql: Sql) {
		this.#sql = sql;
	}

	async position(): Promise<number> {
		return (await this.#sql.get<{ seq: number }>('SELECT seq FROM statistics_state'))?.seq ?? 0;
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
		const filter = { deployment_id: deploymentId ?? null, assistant_id: assistantId ?? null };
		for (let start = from; start < to; start += BUCKETS_PER_STEP * length) {
			const end = Math.min(to, start + BUCKETS_PER_STEP * length);
			yield this.#sql.all<FigureSum>(
				`SELECT start, figure, key, sum(logged + erased)::bigint AS value FROM figures
				 WHERE workspace_id = @workspace_id AND series = @series AND start >= @start AND start < @end
				 AND (@deployment_id::text IS NULL OR deployment_id = @deployment_id)
				 AND (@assistant_id::text IS NULL OR assistant_id = @assistant_id)
				 GROUP BY start, figure, key`,
				{ workspace_id: workspaceId, series, start, end, ...filter },
			);
		}
	}

	citedDocuments(
		knowledgeBaseId: string,
		after: ListPosition = LIST_START,
		limit: number,
	): Promise<Array<Pick<DocumentRecord, 'id' | 'title' | 'created_at'> & { isCited: boolean }>> {
		return this.#sql.all(
			`SELECT id, title, created_at,
				EXISTS (SELECT 1 FROM cited_documents WHERE document_id = documents.id) AS "isCited"
			 FROM documents WHERE knowledge_base_id = @knowledge_base_id AND status = 'indexed'
			 AND (created_at, id) > (@at, @id) ORDER BY created_at, id LIMIT @limit`,
			{ knowledge_base_id: knowledgeBaseId, ...after, limit },
		);
	}

	ungrouped(limit: number): Promise<UnansweredQuestion[]> {
		return this.#sql.all(
			`SELECT ${QUESTION} FROM unanswered_questions WHERE group_id IS NULL ORDER BY asked_at, message_id LIMIT @limit`,
			{ limit },
		);
	}

	async groupTerms(workspaceId: string): Promise<Array<{ group_id: string; terms: string[] }>> {
		const rows = await this.#sql.all<{ group_id: string; terms: string | null }>(
			`SELECT groups.id AS group_id, (
				SELECT terms FROM unanswered_questions WHERE group_id = groups.id ORDER BY asked_at, message_id LIMIT 1
			 ) AS terms
			 FROM question_groups AS groups WHERE workspace_id = @workspace_id AND status <> 'resolved' ORDER BY created_at, id`,
			{ workspace_id: workspaceId },
		);
		return rows.map(({ group_id, terms }) => ({ group_id, terms: JSON.parse(terms ?? '[]') }));
	}

	unansweredGroup(groupId: string): Promise<UnansweredGroup | undefined> {
		return this.#sql.get(
			`SELECT group_id AS id, count(*) AS count, min(asked_at) AS first_at, max(asked_at) AS last_at
			 FROM unanswered_questions WHERE group_id = @group_id GROUP BY group_id`,
			{ group_id: groupId },
		);
	}

	unansweredGroups({
		workspaceId,
		status,
		limit,
		assistantId,
		after,
	}: UnansweredGroupQuery): Promise<UnansweredGroup[]> {
		return this.#sql.all(
			`SELECT groups.id, count(*) AS count, min(asked_at) AS first_at, max(asked_at) AS last_at
			 FROM question_groups AS groups JOIN unanswered_questions ON group_id = groups.id
			 WHERE groups.workspace_id = @workspace_id AND groups.status = @status
			 AND (@assistant_id::text IS NULL OR assistant_id = @assistant_id)
			 GROUP BY groups.id
			 HAVING @id::text IS NULL OR (-count(*), -max(asked_at), groups.id) > (-@count::bigint, -@last_at::bigint, @id)
			 ORDER BY count DESC, last_at DESC, groups.id LIMIT @limit`,
			{
				...{ workspace_id: workspaceId, status, limit, assistant_id: assistantId ?? null },
				...{ id: after?.id ?? null, count: after?.count ?? 0, last_at: after?.last_at ?? 0 },
			},
		);
	}

	questionsOf(groupId: string, limit: number): Promise<UnansweredQuestion[]> {
		return this.#sql.all(
			`SELECT ${QUESTION} FROM unanswered_questions WHERE group_id = @group_id
			 ORDER BY asked_at DESC, message_id DESC LIMIT @limit`,
			{ group_id: groupId, limit },
		);
	}
}
