import { useEffect, useRef } from 'preact/hooks';
import { liveState, useLive } from '../../../api/live.ts';
import type { UploadQueue } from '../uploads/upload-queue.ts';
import { isBeingIndexed } from '../uploads/upload-state.ts';
import type { DocumentList } from './document-list.ts';

/** Keeps a list of documents and the uploads up to date. After an interruption of the live connection both are read again. */
export function useLiveDocuments(baseId: string, list: DocumentList, queue: UploadQueue): void {
	useLive(['document.updated'], ({ data }) => {
		if (data.knowledge_base_id !== baseId) return;
		list.update(data);
		queue.update(data);
	});
	const state = liveState.value;
	const wasLost = useRef(false);
	useEffect(() => {
		if (state === 'lost') wasLost.current = true;
		if (state !== 'open' || !wasLost.current) return;
		wasLost.current = false;
		void list.reload();
		void queue.readAgain();
	}, [state]);
	useRemovals(baseId, list);
	useEffect(() => {
		// The notices between the start of an upload and this page may have been missed.
		if (queue.items.value.some(({ state: { value } }) => value.step === 'added' && isBeingIndexed(value.document))) {
			void queue.readAgain();
		}
	}, [queue]);
}

/** Documents that another person removes are reported by the number of documents alone. */
function useRemovals(baseId: string, list: DocumentList): void {
	const lastTotal = useRef<number | null>(null);
	useLive(['knowledge_base.updated'], ({ data }) => {
		if (data.id !== baseId || 'deleted' in data) return;
		const isFewer = lastTotal.current !== null && data.documents_total < lastTotal.current;
		lastTotal.current = data.documents_total;
		if (isFewer) void list.reload();
	});
}
