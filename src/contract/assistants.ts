import { type Static, Type } from 'typebox';
import { type OperationTable, withKey } from './operation.ts';
import { Id, NullableTimestamp, OneOf, PageOf, PageQueryWith, Patch, Strict, Timestamp } from './shapes.ts';
import { NullableMultilineText, OptionalMultilineText, SingleLineText } from './text-shapes.ts';

const name = SingleLineText({ maxLength: 200, examples: ['Kettle help'] });
const description = NullableMultilineText({ maxLength: 2000 });
const master_prompt = OptionalMultilineText({
	maxLength: 32_000,
	description: 'Instructions for the assistant.',
	examples: ['Answer in two sentences at most. Be friendly.'],
});
const model = SingleLineText({
	maxLength: 200,
	description: '`provider/name`; the server has a default.',
	examples: ['builtin/extractive'],
});
const top_k = Type.Integer({
	minimum: 1,
	maximum: 50,
	description: 'Passages given to the model. Default 5. The built-in model reads at least 20.',
});
const min_score = Type.Number({
	minimum: 0,
	maximum: 1,
	description: 'Passages with a lower score are left out. Default 0.',
});
const min_confidence = Type.Unsafe<number | null>({
	type: ['number', 'null'],
	minimum: 0,
	maximum: 1,
	description:
		'The least probability with which `builtin/extractive` gives an answer; below it, it refuses. Null (the default): the threshold that comes with its trained weights. Other models ignore it.',
});
const answer_policy = OneOf(['documents_only', 'prefer_documents', 'open'], {
	description:
		'What a provider’s model may answer from. `documents_only`: from passages and tools alone; without passages and tools it is not called, and the refusal is the built-in one. `prefer_documents` (the default): where passages are found they decide. `open`: general knowledge, too, which the reply then says. `builtin/extractive` always answers from documents alone.',
});
const query_rewrite = OneOf(['auto', 'never', 'always'], {
	description:
		'Whether a provider’s model first writes the query for the search of the documents. `auto` (the default): for messages that depend on the messages before them. It may take 1.5 seconds; then the search does without.',
});
const redaction = Type.Array(OneOf(['email', 'phone', 'card']), {
	maxItems: 3,
	uniqueItems: true,
	description:
		'Values of messages and of results of tools that a provider gets placeholders for, such as `[EMAIL_1]`: `email` addresses, `phone` numbers, numbers of payment `card`s. Replies show the values, and tools are called with them. None by default. `builtin/extractive` does not leave the server and is not concerned.',
	examples: [['email', 'phone', 'card']],
});
/** A kind of values that can be redacted. */
export type RedactionKind = Static<typeof redaction>[number];
const status = OneOf(['active', 'archived']);

export const RagSettings = Type.Object({ top_k, min_score, min_confidence, answer_policy, query_rewrite });
export type RagSettings = Static<typeof RagSettings>;
const RagSettingsPatch = Patch({ top_k, min_score, min_confidence, answer_policy, query_rewrite });

const DEFAULT_RAG_SETTINGS: RagSettings = {
	top_k: 5,
	min_score: 0,
	min_confidence: null,
	answer_policy: 'prefer_documents',
	query_rewrite: 'auto',
};

/** Stored settings with the defaults of those that are not set. */
export function completeRagSettings(stored: Partial<RagSettings>): RagSettings {
	return { ...DEFAULT_RAG_SETTINGS, ...stored };
}

export const Assistant = Type.Object({
	id: Type.String(),
	name,
	description,
	master_prompt,
	model,
	rag_settings: RagSettings,
	redaction,
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
	rag_settings: Type.Optional(RagSettingsPatch),
	redaction: Type.Optional(redaction),
});
export type AssistantCreate = Static<typeof AssistantCreate>;

export const AssistantPatch = Patch({
	name,
	description,
	master_prompt,
	model,
	rag_settings: RagSettingsPatch,
	redaction,
	status,
});
export type AssistantPatch = Static<typeof AssistantPatch>;

export const AssistantListQuery = PageQueryWith({
	status: Type.Optional(OneOf(['active', 'archived'], { description: 'Only assistants in this state.' })),
});

export const AttachKnowledgeBase = Strict({ knowledge_base_id: Id('The knowledge base to attach.') });
export const AttachTool = Strict({ tool_id: Id('The tool to attach.') });

/** Assistants. */
export const assistantOperations = {
	listAssistants: {
		method: 'GET',
		path: '/api/v1/assistants',
		summary: 'List assistants',
		tag: 'Assistants',
		access: withKey('assistants:read'),
		query: AssistantListQuery,
		result: PageOf(Assistant),
	},
	createAssistant: {
		versioned: true,
		method: 'POST',
		path: '/api/v1/assistants',
		summary: 'Create an assistant',
		tag: 'Assistants',
		access: withKey('assistants:write'),
		body: AssistantCreate,
		errors: ['unknown_model', 'plan_limit_exceeded'],
		status: 201,
		result: Assistant,
	},
	getAssistant: {
		versioned: true,
		method: 'GET',
		path: '/api/v1/assistants/{id}',
		summary: 'Get an assistant',
		tag: 'Assistants',
		access: withKey('assistants:read'),
		result: Assistant,
	},
	updateAssistant: {
		versioned: true,
		method: 'PATCH',
		path: '/api/v1/assistants/{id}',
		summary: 'Change an assistant, archive or reactivate it',
		tag: 'Assistants',
		access: withKey('assistants:write'),
		body: AssistantPatch,
		examples: {
			'Change the instructions': { master_prompt: 'Answer in one sentence.' },
			'Use another model': { model: 'builtin/extractive' },
			'Let no provider read contact data': { redaction: ['email', 'phone', 'card'] },
			'Archive it': { status: 'archived' },
			'Reactivate it': { status: 'active' },
		},
		errors: ['unknown_model', 'plan_limit_exceeded'],
		result: Assistant,
	},
	archiveAssistant: {
		versioned: true,
		method: 'DELETE',
		path: '/api/v1/assistants/{id}',
		summary: 'Archive an assistant',
		tag: 'Assistants',
		access: withKey('assistants:write'),
		result: Assistant,
	},
	attachKnowledgeBase: {
		versioned: true,
		method: 'POST',
		path: '/api/v1/assistants/{id}/knowledge-bases',
		summary: 'Attach a knowledge base',
		tag: 'Assistants',
		access: withKey('assistants:write'),
		body: AttachKnowledgeBase,
		result: Assistant,
	},
	detachKnowledgeBase: {
		versioned: true,
		method: 'DELETE',
		path: '/api/v1/assistants/{id}/knowledge-bases/{kb_id}',
		summary: 'Detach a knowledge base',
		tag: 'Assistants',
		access: withKey('assistants:write'),
		result: Assistant,
	},
	attachTool: {
		versioned: true,
		method: 'POST',
		path: '/api/v1/assistants/{id}/tools',
		summary: 'Attach a tool',
		tag: 'Assistants',
		access: withKey('assistants:write'),
		body: AttachTool,
		errors: ['plan_limit_exceeded'],
		result: Assistant,
	},
	detachTool: {
		versioned: true,
		method: 'DELETE',
		path: '/api/v1/assistants/{id}/tools/{tool_id}',
		summary: 'Detach a tool',
		tag: 'Assistants',
		access: withKey('assistants:write'),
		result: Assistant,
	},
} as const satisfies OperationTable;
