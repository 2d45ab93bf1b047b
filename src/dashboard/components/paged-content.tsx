import type { ComponentChildren } from 'preact';
import type { PagedList } from '../api/pages.ts';
import { strings } from '../languages/index.ts';
import { Button } from './button.tsx';
import { ErrorState, LoadingLines } from './page.tsx';

/** The rows of a list that is loaded page by page, with a button for the next page: as `QueryContent` for one query. */
export function PagedContent<T>({
	list,
	children,
}: {
	list: PagedList<T>;
	children: (rows: T[]) => ComponentChildren;
}) {
	if (list.rows === undefined) {
		return list.error ? <ErrorState error={list.error} onRetry={list.reload} /> : <LoadingLines />;
	}
	return (
		<>
			{children(list.rows)}
			{list.hasMore && (
				<div class="more">
					<Button isBusy={list.isLoading} onClick={list.loadMore}>
						{strings().parts.showMore}
					</Button>
				</div>
			)}
		</>
	);
}
