import { AppError, type Clock, mergePatch, newId, timestamp, timestampOrNull } from '../base/index.ts';
import type { Assistant, AssistantPatch, Operations } from '../contract/index.ts';
import { versionOf } from '../knowledge/index.ts';
import type { Models } from '../models/index.ts';
import {
	type AssistantRecord,
	type Commit,
	decideAndCommit,
	type KnowledgeBaseRecord,
	type NewEvent,
	type Store,
	type Write,
} from '../store/index.ts';
import type { Handler } from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';

type AssistantOperation =
	| 'listAssistants'
	| 'createAssistant'
	| 'getAssistant'
	| 'updateAssistant'
	| 'archiveAssistant'
	| 'attachKnowledgeBase'
	| 'detachKnowledgeBase';

export interface AssistantsOptions {
	store: Store;
	models: Models;
	cursors: Cursors;
	clock: Clock;
}

/** What a change of an assistant comes to. */
interface Change {
	set: Partial<AssistantRecord>;
	/** Must be there still, and gets a new version: its deletion, decided at the same time, must see this change. */
	touch?: KnowledgeBaseRecord;
}

/** An assistant as the API shows it. */
export function presentAssistant(record: AssistantRecord): Assistant {
	return {
		id: record.id,
		name: record.name,
		description: record.description,
		master_prompt: record.master_prompt,
		model: record.model,
		rag_settings: record.rag_settings,
		status: record.status,
		knowledge_base_ids: record.knowledge_base_ids,
		tool_ids: record.tool_ids,
		created_at: timestamp(record.created_at),
		updated_at: timestamp(record.updated_at),
		archived_at: timestampOrNull(record.archived_at),
	};
}

/** The event that every change of an assistant makes. */
export function assistantUpdated(record: AssistantRecord, now: number): NewEvent {
	return {
		id: newId('event'),
		stream: record.workspace_id,
		type: 'assistant.updated',
		data: presentAssistant(record),
		created_at: now,
	};
}

/** Assistants: create, read, change, archive, and what they know. */
export function assistantHandlers({ store, models, cursors, clock }: AssistantsOptions): {
	[K in AssistantOperation]: Handler<Operations[K]>;
} {
	const find = async (workspaceId: string, id: string): Promise<AssistantRecord> => {
		const record = await store.get('assistants', id);
		if (record?.workspace_id !== workspaceId) throw new AppError('not_found', 'The assistant does not exist.');
		return record;
	};

	/** Changes an assistant by what `decide` makes of its present state; null changes nothing. */
	const change = (
		workspaceId: string,
		id: string,
		decide: (record: AssistantRecord, now: number) => Promise<Change | null>,
	): Promise<Assistant> =>
		decideAndCommit(store, async () => {
			const record = await find(workspaceId, id);
			const now = clock.now();
			const change = await decide(record, now);
			if (!change) return { commit: null, result: presentAssistant(record) };
			const set = { ...change.set, updated_at: now };
			const touched = change.touch ? [change.touch] : [];
			const next = { ...record, ...set };
			return {
				commit: {
					expect: [versionOf('assistants', record), ...touched.map((one) => versionOf('knowledge_bases', one))],
					write: [
						{ op: 'patch', kind: 'assistants', id, set },
						...touched.map((one): Write => ({ op: 'patch', kind: 'knowledge_bases', id: one.id, set: {} })),
					],
					events: [assistantUpdated(next, now)],
				},
				result: presentAssistant(next),
			};
		});

	const patched = (record: AssistantRecord, patch: AssistantPatch, now: number): Partial<AssistantRecord> => {
		const fields = mergePatch(record, patch);
		if (patch.model !== undefined) models.resolve(patch.model);
		if (patch.status !== undefined && patch.status !== record.status) {
			fields.archived_at = patch.status === 'archived' ? now : null;
		}
		return fields;
	};

	return {
		async listAssistants({ caller, query }) {
			const list = `assistants ${caller.workspaceId} ${query.status ?? ''}`;
			const page = cursors.read(list, query);
			const records = await store.list('assistants', {
				...page,
				limit: page.limit + 1,
				where: { workspace_id: caller.workspaceId, status: query.status },
			});
			return cursors.page(list, page, records, byCreation, presentAssistant);
		},

		async createAssistant({ caller, body }) {
			const model = body.model ?? models.defaultModel;
			models.resolve(model);
			const now = clock.now();
			const record: AssistantRecord = {
				id: newId('assistant'),
				version: 1,
				workspace_id: caller.workspaceId,
				name: body.name,
				description: body.description ?? null,
				master_prompt: body.master_prompt ?? '',
				model,
				rag_settings: { top_k: 5, min_score: 0, ...body.rag_settings },
				status: 'active',
				knowledge_base_ids: [],
				tool_ids: [],
				created_at: now,
				updated_at: now,
				archived_at: null,
			};
			const commit = { write: [{ op: 'insert', kind: 'assistants', record }] } satisfies Commit;
			return decideAndCommit(store, async () => ({ commit, result: presentAssistant(record) }));
		},

		getAssistant: async ({ caller, params }) => presentAssistant(await find(caller.workspaceId, params.id)),

		updateAssistant: ({ caller, params, body }) =>
			change(caller.workspaceId, params.id, async (record, now) => ({ set: patched(record, body, now) })),

		archiveAssistant: ({ caller, params }) =>
			change(caller.workspaceId, params.id, async (record, now) =>
				record.status === 'archived' ? null : { set: patched(record, { status: 'archived' }, now) },
			),

		attachKnowledgeBase: ({ caller, params, body }) =>
			change(caller.workspaceId, params.id, async (record) => {
				const id = body.knowledge_base_id;
				const knowledgeBase = await store.get('knowledge_bases', id);
				if (knowledgeBase?.workspace_id !== caller.workspaceId) {
					throw new AppError('not_found', 'The knowledge base does not exist.');
				}
				if (record.knowledge_base_ids.includes(id)) return null;
				return { set: { knowledge_base_ids: [...record.knowledge_base_ids, id] }, touch: knowledgeBase };
			}),

		detachKnowledgeBase: ({ caller, params }) =>
			change(caller.workspaceId, params.id, async (record) => {
				if (!record.knowledge_base_ids.includes(params.kb_id)) {
					throw new AppError('not_found', 'This knowledge base is not attached.');
				}
				return { set: { knowledge_base_ids: record.knowledge_base_ids.filter((id) => id !== params.kb_id) } };
			}),
	};
}
