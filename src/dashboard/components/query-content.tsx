import type { QueryObserverResult } from '@tanstack/query-core';
import type { ComponentChildren } from 'preact';
import { ErrorState, LoadingLines } from './page.tsx';

/** The content of a query: lines while it loads, an error with a retry, or its data. Data that is there stays while it reloads. */
export function QueryContent<T>({
	query,
	children,
}: {
	query: QueryObserverResult<T>;
	children: (data: T) => ComponentChildren;
}) {
	if (query.data !== undefined) return <>{children(query.data)}</>;
	if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
	return <LoadingLines />;
}
