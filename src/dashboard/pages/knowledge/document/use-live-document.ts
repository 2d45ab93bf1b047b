import { useLive } from '../../../api/live.ts';
import { queryClient } from '../../../api/queries.ts';
import { documentById } from '../queries.ts';

/** Keeps a document up to date. */
export function useLiveDocument(baseId: string, id: string): void {
	useLive(['document.updated'], ({ data }) => {
		if (data.id === id) queryClient.setQueryData(documentById(baseId, id).queryKey, data);
	});
}
