import type { Kind, ListQuery, Records, Store } from '../store/index.ts';

/** Records of one read, and of one chunk of a response. */
const PAGE_SIZE = 100;

type PagedKind = Exclude<Extract<Kind, keyof Records>, 'workspaces'>;

/** All records that a query finds, oldest first, in pages. What exists during the whole reading is in it once. */
export async function* pagesOf<K extends PagedKind>(
	store: Pick<Store, 'list'>,
	kind: K,
	query: Pick<ListQuery<K>, 'where' | 'createdAfter' | 'createdBefore'>,
): AsyncGenerator<Records[K][]> {
	for (let after: { at: number; id: string } | undefined; ; ) {
		const page = await store.list(kind, { ...query, after, order: 'asc', limit: PAGE_SIZE });
		if (page.length > 0) yield page;
		const last = page.at(-1) as { created_at: number; id: string } | undefined;
		if (last === undefined || page.length < PAGE_SIZE) return;
		after = { at: last.created_at, id: last.id };
	}
}
