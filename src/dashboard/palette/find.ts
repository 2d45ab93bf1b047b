import type { QueryObserverOptions } from '@tanstack/query-core';
import { api, resultOf } from '../api/client.ts';
import { queryClient } from '../api/queries.ts';
import { allAssistants, allKnowledgeBases } from '../api/workspace-lists.ts';
import { hasPage, pagesOf } from '../app/pages.tsx';
import { linkTo } from '../app/route.ts';
import { strings } from '../languages/index.ts';

/** Something that the palette opens. */
export interface Found {
	id: string;
	/** What it is, in the language of the dashboard. */
	kind: string;
	label: string;
	href: string;
}

/** Results of each kind. */
const LIMIT = 5;
/** Knowledge bases whose documents are searched: each takes a request. */
const MAX_BASES = 5;
/** Documents and messages are searched from this many characters on. */
const MIN_SEARCH = 2;

/** The pages whose names match, the signed-in person's own. */
export function findPages(text: string): Found[] {
	const s = strings();
	return [...pagesOf('main'), ...pagesOf('settings'), ...pagesOf('account')]
		.map(({ name, label }) => ({ id: `page-${name}`, kind: s.page, label: label(s), href: linkTo([name]) }))
		.filter(({ label }) => matches(label, text));
}

/** What the workspace has that matches: assistants, knowledge bases, documents, conversations. */
export function resourcesMatching(text: string): QueryObserverOptions<Found[]> {
	return {
		queryKey: ['palette', text],
		queryFn: async ({ signal }) => {
			if (text === '') return [];
			const parts = await Promise.all([
				findAssistants(text),
				findKnowledge(text, signal),
				findConversations(text, signal),
			]);
			return parts.flat();
		},
	};
}

async function findAssistants(text: string): Promise<Found[]> {
	if (!hasPage('assistants')) return [];
	const { rows } = await queryClient.fetchQuery(allAssistants());
	return rows
		.filter(({ name }) => matches(name, text))
		.slice(0, LIMIT)
		.map(({ id, name }) => ({ id, kind: strings().assistant, label: name, href: linkTo(['assistants', id]) }));
}

async function findKnowledge(text: string, signal: AbortSignal): Promise<Found[]> {
	if (!hasPage('knowledge')) return [];
	const { rows: bases } = await queryClient.fetchQuery(allKnowledgeBases());
	const documents = await Promise.all(bases.slice(0, MAX_BASES).map(({ id }) => findDocuments(id, text, signal)));
	const named = bases.filter(({ name }) => matches(name, text)).slice(0, LIMIT);
	return [
		...named.map(({ id, name }) => ({
			id,
			kind: strings().knowledgeBase,
			label: name,
			href: linkTo(['knowledge', id]),
		})),
		...documents.flat().slice(0, LIMIT),
	];
}

async function findDocuments(id: string, name: string, signal: AbortSignal): Promise<Found[]> {
	if (name.length < MIN_SEARCH) return [];
	const params = { path: { id }, query: { name: name.slice(0, 200), limit: LIMIT } };
	const { data } = await resultOf(api.GET('/api/v1/knowledge-bases/{id}/documents', { params, signal }));
	return data.map(({ id: documentId, title }) => ({
		id: documentId,
		kind: strings().document,
		label: title,
		href: linkTo(['knowledge', id, 'documents', documentId]),
	}));
}

async function findConversations(text: string, signal: AbortSignal): Promise<Found[]> {
	if (!hasPage('inbox') || text.length < MIN_SEARCH) return [];
	const query = { search: text, limit: LIMIT };
	const { data } = await resultOf(api.GET('/api/v1/inbox', { params: { query }, signal }));
	return data.map(({ conversation: { id, title, end_user } }) => ({
		id,
		kind: strings().conversation,
		label: title ?? end_user?.name ?? id,
		href: linkTo(['inbox', id]),
	}));
}

function matches(label: string, text: string): boolean {
	return label.toLowerCase().includes(text.toLowerCase());
}
