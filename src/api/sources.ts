import { AppError } from '../base/index.ts';
import type { Operations, Source } from '../contract/index.ts';
import { presentSource, presentSourcePage, type Sources } from '../knowledge/index.ts';
import type { Network } from '../net/index.ts';
import type { SourceRecord, Store } from '../store/index.ts';
import { type Handler, type VersionedResult, withVersion } from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';
import { findKnowledgeBase } from './knowledge-bases.ts';

type SourceOperation =
	| 'listSources'
	| 'createSource'
	| 'getSource'
	| 'updateSource'
	| 'deleteSource'
	| 'refreshSource'
	| 'pauseSource'
	| 'resumeSource'
	| 'listSourcePages';

export interface SourceHandlersOptions {
	store: Store;
	sources: Sources;
	network: Pick<Network, 'checkUrl'>;
	cursors: Cursors;
}

/** Sources of a knowledge base: websites, sitemaps and pages that it follows. */
export function sourceHandlers({ store, sources, network, cursors }: SourceHandlersOptions): {
	[K in SourceOperation]: Handler<Operations[K]>;
} {
	const find = async (workspaceId: string, params: { id: string; source_id: string }) => {
		const knowledgeBase = await findKnowledgeBase(store, workspaceId, params.id);
		const source = await store.get('sources', params.source_id);
		if (source?.knowledge_base_id !== knowledgeBase.id) throw new AppError('not_found', 'The source does not exist.');
		return source;
	};
	const indexedOf = async ({ id }: SourceRecord) => (await store.sources.documentCounts(id)).indexed;
	/** A changed source has the documents that it had. */
	const presentChanged =
		(indexed: number) =>
		(record: SourceRecord): VersionedResult<Source> =>
			withVersion(presentSource(record, indexed), record);

	return {
		async listSources({ caller, params, query }) {
			const knowledgeBase = await findKnowledgeBase(store, caller.workspaceId, params.id);
			const list = `sources ${knowledgeBase.id}`;
			const page = cursors.read(list, query);
			const records = await store.list('sources', {
				...page,
				limit: page.limit + 1,
				where: { knowledge_base_id: knowledgeBase.id },
			});
			const indexed = new Map<string, number>();
			for (const record of records) indexed.set(record.id, await indexedOf(record));
			return cursors.page(list, page, records, byCreation, (record) =>
				presentSource(record, indexed.get(record.id) ?? 0),
			);
		},

		async createSource({ caller, params, body, commit }) {
			const knowledgeBase = await findKnowledgeBase(store, caller.workspaceId, params.id);
			const { href } = network.checkUrl(body.url, { path: '/url' });
			return commit(sources.create(knowledgeBase, { ...body, url: href }), presentChanged(0));
		},

		async getSource({ caller, params }) {
			const record = await find(caller.workspaceId, params);
			return withVersion(presentSource(record, await indexedOf(record)), record);
		},

		async updateSource({ caller, params, body, ifMatchVersions, commit }) {
			const source = await find(caller.workspaceId, params);
			const change = sources.update(source.knowledge_base_id, source.id, body, ifMatchVersions);
			return commit(change, presentChanged(await indexedOf(source)));
		},

		async deleteSource({ caller, params, ifMatchVersions, commit }) {
			const { id, knowledge_base_id } = await find(caller.workspaceId, params);
			return commit(sources.remove(knowledge_base_id, id, ifMatchVersions), () => ({ id, deleted: true as const }));
		},

		async refreshSource({ caller, params, commit }) {
			const source = await find(caller.workspaceId, params);
			return commit(sources.refresh(source.knowledge_base_id, source.id), presentChanged(await indexedOf(source)));
		},

		async pauseSource({ caller, params, commit }) {
			const source = await find(caller.workspaceId, params);
			return commit(sources.pause(source.knowledge_base_id, source.id), presentChanged(await indexedOf(source)));
		},

		async resumeSource({ caller, params, commit }) {
			const source = await find(caller.workspaceId, params);
			return commit(sources.resume(source.knowledge_base_id, source.id), presentChanged(await indexedOf(source)));
		},

		async listSourcePages({ caller, params, query }) {
			const { id } = await find(caller.workspaceId, params);
			const { status, ...pageQuery } = query;
			const list = `source pages ${id} ${status ?? ''}`;
			const page = cursors.read(list, pageQuery);
			const records = await store.list('source_pages', {
				...page,
				limit: page.limit + 1,
				where: { source_id: id, kind: 'page', ...(status === undefined ? {} : { status }) },
			});
			return cursors.page(list, page, records, byCreation, presentSourcePage);
		},
	};
}
