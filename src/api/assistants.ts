import { requirePlanCapacity } from '../access/index.ts';
import { AppError, type Clock, mergedFields, newId, timestamp, timestampOrNull } from '../base/index.ts';
import {
	type Assistant,
	type AssistantPatch,
	type Assistant as AssistantSchema,
	completeRagSettings,
	type Operations,
} from '../contract/index.ts';
import type { Models } from '../models/index.ts';
import {
	type AssistantRecord,
	type Commit,
	expectVersion,
	type NewEvent,
	prepareChange,
	requireVersion,
	type Store,
} from '../store/index.ts';
import { type Call, type Handler, type HandlerResult, withVersion } from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';

type AssistantOperation =
	| 'listAssistants'
	| 'createAssistant'
	| 'getAssistant'
	| 'updateAssistant'
	| 'archiveAssistant'
	| 'attachKnowledgeBase'
	| 'detachKnowledgeBase'
	| 'attachTool'
	| 'detachTool';

export interface AssistantsOptions {
	store: Store;
	models: Models;
	cursors: Cursors;
	clock: Clock;
}

/** What a request changes of an assistant. */
interface AssistantChange {
	set: Partial<AssistantRecord>;
	/** Further parts of the commit. */
	commitParts?: Pick<Commit, 'expect' | 'write'>;
}

type ChangeOperation = Extract<Operations[AssistantOperation], { result: typeof AssistantSchema }>;

/** Attachments of each kind. Every reply reads all of them. */
const MAX_ATTACHMENTS = 100;

/** An assistant as the API shows it. */
export function presentAssistant(record: AssistantRecord): Assistant {
	return {
		id: record.id,
		name: record.name,
		description: record.description,
		master_prompt: record.master_prompt,
		model: record.model,
		rag_settings: completeRagSettings(record.rag_settings),
		redaction: record.redaction,
		status: record.status,
		knowledge_base_ids: record.knowledge_base_ids,
		tool_ids: record.tool_ids,
		created_at: timestamp(record.created_at),
		updated_at: timestamp(record.updated_at),
		archived_at: timestampOrNull(record.archived_at),
	};
}

/** The event of every change of an assistant. */
export function assistantUpdated(record: AssistantRecord, now: number): NewEvent {
	return {
		id: newId('event'),
		stream: record.workspace_id,
		type: 'assistant.updated',
		data: presentAssistant(record),
		created_at: now,
	};
}

/** Assistants: create, read, change, archive, and attach knowledge bases and tools. */
export function assistantHandlers({ store, models, cursors, clock }: AssistantsOptions): {
	[K in AssistantOperation]: Handler<Operations[K]>;
} {
	const find = async (workspaceId: string, id: string): Promise<AssistantRecord> => {
		const record = await store.get('assistants', id);
		if (record?.workspace_id !== workspaceId) throw new AppError('not_found', 'The assistant does not exist.');
		return record;
	};

	/** Changes an assistant as `decide` says for its present state; null changes nothing. */
	const change = <O extends ChangeOperation>(
		{ caller, params, ifMatchVersions, commit }: Call<O> & { params: { id: string } },
		decide: (record: AssistantRecord, now: number) => Promise<AssistantChange | null>,
	): Promise<HandlerResult<O>> => {
		const decided = prepareChange(store, async () => {
			const record = await find(caller.workspaceId, params.id);
			requireVersion(record, ifMatchVersions);
			const now = clock.now();
			const change = await decide(record, now);
			if (!change) return { commit: null, result: record };
			const set = { ...change.set, updated_at: now };
			const next = { ...record, ...set, version: record.version + 1 };
			const { expect = [], write = [] } = change.commitParts ?? {};
			return {
				commit: {
					expect: [expectVersion('assistants', record), ...expect],
					write: [{ op: 'patch', kind: 'assistants', id: record.id, set }, ...write],
					events: [assistantUpdated(next, now)],
				},
				result: next,
			};
		});
		return commit(decided, (assistant) => withVersion(presentAssistant(assistant), assistant) as HandlerResult<O>);
	};

	const changesOf = async (
		record: AssistantRecord,
		patch: AssistantPatch,
		now: number,
	): Promise<AssistantChange | null> => {
		const set = mergedFields(record, patch);
		const { status, ...fields } = patch;
		if (Object.keys(fields).length === 0 && (status === undefined || status === record.status)) return null;
		if (patch.model !== undefined) models.resolve(patch.model);
		if (patch.status === undefined || patch.status === record.status) return { set };
		if (patch.status === 'archived') return { set: { ...set, archived_at: now } };
		const addition = { assistants: 1, tool_attachments: record.tool_ids.length };
		return {
			set: { ...set, archived_at: null },
			commitParts: await requirePlanCapacity(store, record.workspace_id, addition),
		};
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

		createAssistant({ caller, body, commit }) {
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
				rag_settings: body.rag_settings ?? {},
				redaction: body.redaction ?? [],
				status: 'active',
				knowledge_base_ids: [],
				tool_ids: [],
				created_at: now,
				updated_at: now,
				archived_at: null,
			};
			const change = prepareChange(store, async () => {
				const { expect, write } = await requirePlanCapacity(store, caller.workspaceId, { assistants: 1 });
				const insert = { op: 'insert', kind: 'assistants', record } as const;
				return { commit: { expect, write: [insert, ...write] }, result: record };
			});
			return commit(change, (created) => withVersion(presentAssistant(created), created));
		},

		async getAssistant({ caller, params }) {
			const record = await find(caller.workspaceId, params.id);
			return withVersion(presentAssistant(record), record);
		},

		updateAssistant: (call) => change(call, (record, now) => changesOf(record, call.body, now)),

		archiveAssistant: (call) =>
			change(call, async (record, now) =>
				record.status === 'archived' ? null : changesOf(record, { status: 'archived' }, now),
			),

		attachKnowledgeBase: (call) =>
			change(call, async (record) => {
				const id = call.body.knowledge_base_id;
				const knowledgeBase = await store.get('knowledge_bases', id);
				if (knowledgeBase?.workspace_id !== record.workspace_id) {
					throw new AppError('not_found', 'The knowledge base does not exist.');
				}
				if (record.knowledge_base_ids.includes(id)) return null;
				requireAttachmentCapacity('knowledge bases', record.knowledge_base_ids);
				const set = { knowledge_base_ids: [...record.knowledge_base_ids, id] };
				return { set, commitParts: touchedParts('knowledge_bases', knowledgeBase) };
			}),

		detachKnowledgeBase: (call) =>
			change(call, async (record) => {
				if (!record.knowledge_base_ids.includes(call.params.kb_id)) {
					throw new AppError('not_found', 'This knowledge base is not attached.');
				}
				return { set: { knowledge_base_ids: record.knowledge_base_ids.filter((id) => id !== call.params.kb_id) } };
			}),

		attachTool: (call) =>
			change(call, async (record) => {
				const id = call.body.tool_id;
				const tool = await store.get('tools', id);
				if (tool?.workspace_id !== record.workspace_id) throw new AppError('not_found', 'The tool does not exist.');
				if (record.tool_ids.includes(id)) return null;
				requireAttachmentCapacity('tools', record.tool_ids);
				const counts = record.status === 'active' ? { tool_attachments: 1 } : {};
				const { expect, write } = await requirePlanCapacity(store, record.workspace_id, counts);
				const touched = touchedParts('tools', tool);
				return {
					set: { tool_ids: [...record.tool_ids, id] },
					commitParts: { expect: [...expect, ...touched.expect], write: [...write, ...touched.write] },
				};
			}),

		detachTool: (call) =>
			change(call, async (record) => {
				if (!record.tool_ids.includes(call.params.tool_id)) {
					throw new AppError('not_found', 'This tool is not attached.');
				}
				return { set: { tool_ids: record.tool_ids.filter((id) => id !== call.params.tool_id) } };
			}),
	};
}

/** An attached resource must still exist, and gets a new version: a concurrent deletion then conflicts with the attachment. */
function touchedParts(
	kind: 'knowledge_bases' | 'tools',
	record: { id: string; version: number },
): Required<Pick<Commit, 'expect' | 'write'>> {
	return { expect: [expectVersion(kind, record)], write: [{ op: 'patch', kind, id: record.id, set: {} }] };
}

function requireAttachmentCapacity(what: string, attached: readonly string[]): void {
	if (attached.length < MAX_ATTACHMENTS) return;
	throw new AppError('invalid_request', `An assistant can have ${MAX_ATTACHMENTS} ${what} at most.`);
}
