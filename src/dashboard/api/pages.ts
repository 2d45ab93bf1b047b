import { type InfiniteData, InfiniteQueryObserver, type InfiniteQueryObserverOptions } from '@tanstack/query-core';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ListPage } from './all-rows.ts';
import { queryClient } from './queries.ts';

type Cursor = string | undefined;

/** A list that is loaded page by page. */
export interface PagedList<T> {
	/** The rows so far; undefined until the first page is there. */
	rows: T[] | undefined;
	error: Error | null;
	hasMore: boolean;
	/** More rows, or all rows again, are being loaded. */
	isLoading: boolean;
	loadMore: () => void;
	reload: () => void;
}

/**
 * A list of the API, page by page. `invalidate` with a part of its key loads all shown pages again.
 * @param key its place in the cache, with its filters
 * @param load one page, after a cursor
 */
export function usePages<T>(
	key: readonly unknown[],
	load: (cursor: Cursor, signal: AbortSignal) => Promise<ListPage<T>>,
): PagedList<T> {
	const options: InfiniteQueryObserverOptions<
		ListPage<T>,
		Error,
		InfiniteData<ListPage<T>>,
		readonly unknown[],
		Cursor
	> = {
		queryKey: key,
		queryFn: ({ pageParam, signal }) => load(pageParam, signal),
		initialPageParam: undefined,
		getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
	};
	const observer = useMemo(() => new InfiniteQueryObserver(queryClient, options), []);
	const [, render] = useState(0);
	// With other filters the rows are those of the other list at once.
	observer.setOptions(options);
	useEffect(() => observer.subscribe(() => render((count) => count + 1)), []);
	const result = observer.getCurrentResult();
	return {
		rows: result.data?.pages.flatMap(({ data }) => data),
		error: result.error,
		hasMore: result.hasNextPage,
		isLoading: result.isFetching,
		loadMore: () => void observer.fetchNextPage(),
		reload: () => void observer.refetch(),
	};
}
