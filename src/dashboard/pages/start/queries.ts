import type { QueryObserverOptions } from '@tanstack/query-core';
import { api, type Resource, resultOf } from '../../api/client.ts';

type Document = Resource<'Document'>;

/** What the workspace has of an assistant that is set up: the steps that are done follow from it. */
export interface Setup {
	/** The oldest active assistant. */
	assistant: Resource<'Assistant'> | null;
	/** Its first knowledge base, with its newest documents. */
	knowledgeBase: Resource<'KnowledgeBase'> | null;
	documents: readonly Document[];
	hasConversation: boolean;
	/** Its oldest active deployment. */
	deployment: Resource<'Deployment'> | null;
}

const NOTHING: Setup = {
	assistant: null,
	knowledgeBase: null,
	documents: [],
	hasConversation: false,
	deployment: null,
};

export const SETUP_KEY = ['setup'];

export function setupOfWorkspace(): QueryObserverOptions<Setup> {
	return { queryKey: SETUP_KEY, queryFn: ({ signal }) => loadSetup(signal) };
}

async function loadSetup(signal: AbortSignal): Promise<Setup> {
	const oldest = { status: 'active', order: 'asc', limit: 1 } as const;
	const {
		data: [assistant],
	} = await resultOf(api.GET('/api/v1/assistants', { params: { query: oldest }, signal }));
	if (!assistant) return NOTHING;
	const assistant_id = assistant.id;
	const [knowledge, conversations, deployments] = await Promise.all([
		loadKnowledge(assistant.knowledge_base_ids[0], signal),
		resultOf(api.GET('/api/v1/conversations', { params: { query: { assistant_id, limit: 1 } }, signal })),
		resultOf(api.GET('/api/v1/deployments', { params: { query: { ...oldest, assistant_id } }, signal })),
	]);
	return {
		...knowledge,
		assistant,
		hasConversation: conversations.data.length > 0,
		deployment: deployments.data[0] ?? null,
	};
}

async function loadKnowledge(
	id: string | undefined,
	signal: AbortSignal,
): Promise<Pick<Setup, 'knowledgeBase' | 'documents'>> {
	if (id === undefined) return NOTHING;
	const path = { id };
	const [knowledgeBase, documents] = await Promise.all([
		resultOf(api.GET('/api/v1/knowledge-bases/{id}', { params: { path }, signal })),
		resultOf(api.GET('/api/v1/knowledge-bases/{id}/documents', { params: { path, query: { limit: 20 } }, signal })),
	]);
	return { knowledgeBase, documents: documents.data };
}

/** Whether each of the four steps is done, from what exists. */
export function doneSteps({ assistant, documents, hasConversation, deployment }: Setup): readonly boolean[] {
	const isOnWebsite = deployment !== null && deployment.allowed_domains.length > 0;
	return [assistant !== null, documents.length > 0, hasConversation, isOnWebsite];
}
