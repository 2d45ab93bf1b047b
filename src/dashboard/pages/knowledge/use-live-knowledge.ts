import { type LiveEvent, useLive, useLiveQueries } from '../../api/live.ts';
import { invalidate, queryClient } from '../../api/queries.ts';
import { indexingStatus, knowledgeBaseById } from './queries.ts';

/**
 * Keeps what the page shows of knowledge bases up to date.
 * @param baseId the knowledge base of the page; null: the list of all
 */
export function useLiveKnowledge(baseId: string | null): void {
	useLiveQueries(['knowledge_base.updated'], ['knowledge', 'list']);
	const isAbout = ({ data: { id } }: LiveEvent<'knowledge_base.updated'>) => id === baseId;
	useLive(['knowledge_base.updated'], (event) => {
		const { data } = event;
		if (!isAbout(event)) return;
		if ('deleted' in data) void invalidate('knowledge', 'one', baseId);
		else queryClient.setQueryData(indexingStatus(data.id).queryKey, data);
	});
	// Read again, because the form needs its version, too.
	useLiveQueries(['knowledge_base.updated'], knowledgeBaseById(baseId ?? '').queryKey, isAbout);
}

/** Keeps the followed websites of a knowledge base up to date: each page that is read changes its documents. */
export function useLiveWebsites(baseId: string): void {
	const isAbout = ({ data: { id } }: LiveEvent<'knowledge_base.updated'>) => id === baseId;
	useLiveQueries(['knowledge_base.updated'], ['knowledge', 'sources', baseId], isAbout);
	useLiveQueries(['knowledge_base.updated'], ['knowledge', 'source', baseId], isAbout);
	useLiveQueries(['knowledge_base.updated'], ['knowledge', 'source-pages', baseId], isAbout);
}
