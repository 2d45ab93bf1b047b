import { timestamp } from '../base/index.ts';
import type { StatisticsReport } from '../contract/index.ts';
import type { FigureQuery, ListPosition, Store } from '../store/index.ts';

type DocumentsStore = Pick<Store, 'get' | 'list' | 'statistics'>;

const TOP_DOCUMENTS = 10;
/** Documents that are listed of those that no reply has ever cited. */
const LISTED_UNCITED = 20;
/** Documents that are looked at for them. */
const MAX_CHECKED = 50_000;
const CHECKED_PER_STEP = 500;
const MAX_KNOWLEDGE_BASES = 100;

/** The documents that replies of a range cite most. */
export async function topDocuments(
	store: DocumentsStore,
	query: Omit<FigureQuery, 'series'>,
): Promise<StatisticsReport['top_documents']> {
	const counts = new Map<string, number>();
	for await (const sums of store.statistics.figures({ ...query, series: 'document' })) {
		for (const { key, value } of sums) counts.set(key, (counts.get(key) ?? 0) + value);
	}
	const top = [...counts]
		.filter(([, citations]) => citations > 0)
		.sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
		.slice(0, TOP_DOCUMENTS);
	return Promise.all(
		top.map(async ([document_id, citations]) => {
			const document = await store.get('documents', document_id);
			const { title = null, knowledge_base_id = null } = document ?? {};
			return { document_id, knowledge_base_id, title, citations };
		}),
	);
}

/** The indexed documents that no reply has ever cited. @param assistantId only those that this assistant searches */
export async function uncitedDocuments(
	store: DocumentsStore,
	workspaceId: string,
	assistantId: string | undefined,
): Promise<StatisticsReport['uncited_documents']> {
	const data: StatisticsReport['uncited_documents']['data'] = [];
	let total = 0;
	let checked = 0;
	for (const knowledge_base_id of await knowledgeBaseIds(store, workspaceId, assistantId)) {
		let after: ListPosition | undefined;
		while (checked < MAX_CHECKED) {
			const page = await store.statistics.citedDocuments(knowledge_base_id, after, CHECKED_PER_STEP);
			checked += page.length;
			for (const { id, title, created_at, isCited } of page) {
				if (isCited) continue;
				total++;
				if (data.length < LISTED_UNCITED) {
					data.push({ document_id: id, knowledge_base_id, title, created_at: timestamp(created_at) });
				}
			}
			const last = page.at(-1);
			if (!last || page.length < CHECKED_PER_STEP) break;
			after = { at: last.created_at, id: last.id };
		}
	}
	return { total, data };
}

async function knowledgeBaseIds(
	store: DocumentsStore,
	workspaceId: string,
	assistantId: string | undefined,
): Promise<string[]> {
	if (assistantId !== undefined) {
		const assistant = await store.get('assistants', assistantId);
		return assistant?.workspace_id === workspaceId ? assistant.knowledge_base_ids : [];
	}
	const where = { workspace_id: workspaceId };
	const found = await store.list('knowledge_bases', { where, order: 'asc', limit: MAX_KNOWLEDGE_BASES });
	return found.map(({ id }) => id);
}
