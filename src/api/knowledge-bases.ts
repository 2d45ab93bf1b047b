import { AppError, type Clock, mergedFields, newId } from '../base/index.ts';
import { MAX_DIALOGUE_CHARS, type Operations, type SearchRequest } from '../contract/index.ts';
import {
	type Knowledge,
	presentKnowledgeBase,
	presentStatus,
	readStatus,
	searchSettingsChange,
} from '../knowledge/index.ts';
import type { Notices } from '../outbox/index.ts';
import {
	expectVersion,
	type KnowledgeBaseRecord,
	prepareChange,
	requireVersion,
	type Store,
	type Write,
} from '../store/index.ts';
import { assistantUpdated } from './assistants.ts';
import { type Handler, withVersion } from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';

type KnowledgeBaseOperation =
	| 'listKnowledgeBases'
	| 'createKnowledgeBase'
	| 'getKnowledgeBase'
	| 'updateKnowledgeBase'
	| 'deleteKnowledgeBase'
	| 'getKnowledgeBaseStatus'
	| 'reindexKnowledgeBase'
	| 'stopReindex'
	| 'searchKnowledgeBase';

export interface KnowledgeBasesOptions {
	store: Store;
	knowledge: Knowledge;
	notices: Pick<Notices, 'publish'>;
	cursors: Cursors;
	clock: Clock;
}

/**
 * The last message of a search request, and the messages before it.
 * @throws AppError `invalid_request`
 */
function dialogueOf({ query, messages }: Pick<SearchRequest, 'query' | 'messages'>) {
	if (query !== undefined && messages !== undefined) throw invalidSearch('/messages', 'must not be given with query');
	if (query !== undefined) return { message: query, earlier: [] };
	const last = messages?.at(-1);
	if (messages === undefined || last === undefined) {
		const details = [{ path: '/query', message: 'is required without messages' }];
		throw new AppError('invalid_request', 'Send query or messages.', { details });
	}
	if (last.role !== 'user') {
		throw invalidSearch(`/messages/${messages.length - 1}/role`, 'must be user in the last message');
	}
	if (messages.reduce((sum, { content }) => sum + content.length, 0) > MAX_DIALOGUE_CHARS) {
		throw invalidSearch('/messages', `must have at most ${MAX_DIALOGUE_CHARS} characters together`);
	}
	return { message: last.content, earlier: messages.slice(0, -1) };
}

function invalidSearch(path: string, message: string): AppError {
	return new AppError('invalid_request', `${path} ${message}.`, { details: [{ path, message }] });
}

/** @throws AppError `not_found` also for another workspace's */
export async function findKnowledgeBase(
	store: Pick<Store, 'get'>,
	workspaceId: string,
	id: string,
): Promise<KnowledgeBaseRecord> {
	const record = await store.get('knowledge_bases', id);
	if (record?.workspace_id !== workspaceId) throw new AppError('not_found', 'The knowledge base does not exist.');
	return record;
}

/** Knowledge bases: create, read, change, delete, search. */
export function knowledgeBaseHandlers({ store, knowledge, notices, cursors, clock }: KnowledgeBasesOptions): {
	[K in KnowledgeBaseOperation]: Handler<Operations[K]>;
} {
	return {
		async listKnowledgeBases({ caller, query }) {
			const list = `knowledge-bases ${caller.workspaceId}`;
			const page = cursors.read(list, query);
			const records = await store.list('knowledge_bases', {
				...page,
				limit: page.limit + 1,
				where: { workspace_id: caller.workspaceId },
			});
			return cursors.page(list, page, records, byCreation, presentKnowledgeBase);
		},

		createKnowledgeBase({ caller, body, commit }) {
			const now = clock.now();
			const defaults = { hybrid: true, semantic_weight: null };
			const record: KnowledgeBaseRecord = {
				id: newId('knowledge_base'),
				version: 1,
				workspace_id: caller.workspaceId,
				name: body.name,
				description: body.description ?? null,
				search_settings: { ...defaults, ...searchSettingsChange(body.search_settings ?? {}) },
				generation: null,
				rebuilding: null,
				embedder: null,
				reindex_reason: null,
				problem: null,
				documents_total: 0,
				documents_pending: 0,
				documents_failed: 0,
				last_indexed_at: null,
				trained_at: null,
				training_asked_at: null,
				tuned_on: 0,
				changed_chunks: 0,
				tuned_weight: null,
				training_failures: 0,
				created_at: now,
				updated_at: now,
			};
			const change = prepareChange(store, async () => ({
				commit: { write: [{ op: 'insert', kind: 'knowledge_bases', record }] },
				result: record,
			}));
			return commit(change, (created) => withVersion(presentKnowledgeBase(created), created));
		},

		async getKnowledgeBase({ caller, params }) {
			const record = await findKnowledgeBase(store, caller.workspaceId, params.id);
			return withVersion(presentKnowledgeBase(record), record);
		},

		updateKnowledgeBase({ caller, params, body, ifMatchVersions, commit }) {
			const change = prepareChange(store, async () => {
				const record = await findKnowledgeBase(store, caller.workspaceId, params.id);
				requireVersion(record, ifMatchVersions);
				const { search_settings, ...fields } = body;
				const change = search_settings ? { search_settings: searchSettingsChange(search_settings) } : {};
				const set = { ...mergedFields(record, { ...fields, ...change }), updated_at: clock.now() };
				const next = { ...record, ...set, version: record.version + 1 };
				return {
					commit: {
						expect: [expectVersion('knowledge_bases', record)],
						write: [{ op: 'patch', kind: 'knowledge_bases', id: record.id, set }],
					},
					result: next,
				};
			});
			return commit(change, (next) => withVersion(presentKnowledgeBase(next), next));
		},

		async deleteKnowledgeBase({ caller, params, ifMatchVersions, commit }) {
			let blobs: ReadonlySet<string> = new Set();
			const change = prepareChange(store, async () => {
				const record = await findKnowledgeBase(store, caller.workspaceId, params.id);
				requireVersion(record, ifMatchVersions);
				const now = clock.now();
				blobs = await knowledge.documents.blobsOf(record.id);
				const attached = await store.assistants.withKnowledgeBase(caller.workspaceId, record.id);
				const detached = attached.map((assistant) => ({
					...assistant,
					knowledge_base_ids: assistant.knowledge_base_ids.filter((id) => id !== record.id),
					updated_at: now,
				}));
				const detach = detached.map(
					({ id, knowledge_base_ids, updated_at }): Write => ({
						op: 'patch',
						kind: 'assistants',
						id,
						set: { knowledge_base_ids, updated_at },
					}),
				);
				return {
					commit: {
						expect: [
							expectVersion('knowledge_bases', record),
							...attached.map((item) => expectVersion('assistants', item)),
						],
						write: [...detach, { op: 'erase_knowledge_base', id: record.id }],
						events: detached.map((assistant) => assistantUpdated(assistant, now)),
					},
					result: record,
				};
			});
			const removed = await commit(change, ({ id }) => ({ id, deleted: true as const }));
			notices.publish(caller.workspaceId, { type: 'knowledge_base.updated', subject: params.id, data: removed });
			await knowledge.documents.removeUnusedBlobs(blobs);
			return removed;
		},

		getKnowledgeBaseStatus: async ({ caller, params }) =>
			readStatus(store, await findKnowledgeBase(store, caller.workspaceId, params.id)),

		async reindexKnowledgeBase({ caller, params, commit }) {
			const { id } = await findKnowledgeBase(store, caller.workspaceId, params.id);
			return commit(knowledge.reindex(id), (record) => presentStatus(record));
		},

		async stopReindex({ caller, params, commit }) {
			const { id } = await findKnowledgeBase(store, caller.workspaceId, params.id);
			return commit(knowledge.stopReindex(id), (record) => presentStatus(record));
		},

		async searchKnowledgeBase({ caller, params, body, request }) {
			const record = await findKnowledgeBase(store, caller.workspaceId, params.id);
			const { query, messages, top_k = 5, min_score = 0, for_reply, ...settings } = body;
			const { message, earlier } = dialogueOf({ query, messages });
			const options = { earlier, top_k, min_score, forPrompt: for_reply, settings, signal: request.signal };
			const { hits } = await knowledge.search([record], message, options);
			return { data: hits.map(({ knowledge_base_id: _id, around: _around, ...hit }) => hit) };
		},
	};
}
