import type { QueryObserverOptions } from '@tanstack/query-core';
import { allRows } from './all-rows.ts';
import { api, type Resource, resultOf } from './client.ts';
import { useQuery } from './queries.ts';

export type Model = Resource<'Model'>;

/** The models that the server offers. */
export function modelList(): QueryObserverOptions<Model[]> {
	return {
		queryKey: ['models'],
		queryFn: async ({ signal }) =>
			(await allRows((query) => resultOf(api.GET('/api/v1/models', { params: { query }, signal })))).rows,
	};
}

/** The currency in which the server counts costs; null while no model has a price: then nothing about costs is shown. */
export function useCurrency(): string | null {
	const { data: models = [] } = useQuery(modelList());
	const priced = models.find(({ price }) => price !== null && price.input_micros + price.output_micros > 0);
	return priced?.price?.currency ?? null;
}
