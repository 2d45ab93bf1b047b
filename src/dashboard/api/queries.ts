import {
	type DefaultError,
	QueryClient,
	QueryObserver,
	type QueryObserverOptions,
	type QueryObserverResult,
} from '@tanstack/query-core';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ApiError } from './api-error.ts';

const MAX_RETRIES = 2;
/** For how long data is shown without asking again (ms). Live events invalidate it before. */
const STALE_AFTER_MS = 30_000;

/** The cache of what the server has answered. It is cleared when the user signs out. */
export const queryClient = new QueryClient({
	defaultOptions: {
		queries: {
			staleTime: STALE_AFTER_MS,
			// The server's answer to a wrong request does not change by asking again.
			retry: (failures, error) => failures < MAX_RETRIES && (!(error instanceof ApiError) || error.status >= 500),
		},
	},
});

/** The state of a query, as a component shows it. The component is rendered again when it changes. */
export function useQuery<T>(options: QueryObserverOptions<T>): QueryObserverResult<T, DefaultError> {
	const defaulted = queryClient.defaultQueryOptions(options);
	const observer = useMemo(() => new QueryObserver<T>(queryClient, defaulted), []);
	const [, render] = useState(0);
	// With other options the result is that of the other query at once.
	observer.setOptions(defaulted);
	useEffect(() => observer.subscribe(() => render((count) => count + 1)), []);
	return observer.getOptimisticResult(defaulted);
}

/** Data is loaded again where a component shows it. */
export function invalidate(...key: unknown[]): Promise<void> {
	return queryClient.invalidateQueries({ queryKey: key });
}
