import { type Static, Type } from 'typebox';
import { Id, NullableText, NullableTimestamp, OneOf, PageQueryWith, Patch, Strict, Timestamp } from './shapes.ts';

const name = Type.String({ minLength: 1, maxLength: 200 });
const description = NullableText({ maxLength: 2000 });
const master_prompt = Type.String({ maxLength: 32_000, description: 'Instructions for the assistant.' });
const model = Type.String({
	minLength: 1,
	maxLength: 200,
	description: '`provider/name`; the server has a default.',
	examples: ['builtin/extractive'],
});
const top_k = Type.Integer({ minimum: 1, maximum: 50, description: 'Passages given to the model. Default 5.' });
const min_score = Type.Number({ minimum: 0, maximum: 1, description: 'Passages below are left out. Default 0.' });
const status = OneOf(['active', 'archived']);

export const RagSettings = Type.Object({ top_k, min_score });
export type RagSettings = Static<typeof RagSettings>;

export const Assistant = Type.Object({
	id: Type.String(),
	name,
	description,
	master_prompt,
	model,
	rag_settings: RagSettings,
	status,
	knowledge_base_ids: Type.Array(Type.String()),
	tool_ids: Type.Array(Type.String()),
	created_at: Timestamp,
	updated_at: Timestamp,
	archived_at: NullableTimestamp,
});
export type Assistant = Static<typeof Assistant>;

export const AssistantCreate = Strict({
	name,
	description: Type.Optional(description),
	master_prompt: Type.Optional(master_prompt),
	model: Type.Optional(model),
	rag_settings: Type.Optional(Patch({ top_k, min_score })),
});
export type AssistantCreate = Static<typeof AssistantCreate>;

export const AssistantPatch = Patch({
	name,
	description,
	master_prompt,
	model,
	rag_settings: Patch({ top_k, min_score }),
	status,
});
export type AssistantPatch = Static<typeof AssistantPatch>;

export const AssistantListQuery = PageQueryWith({ status: Type.Optional(status) });

export const AttachKnowledgeBase = Strict({ knowledge_base_id: Id('The knowledge base to attach.') });
