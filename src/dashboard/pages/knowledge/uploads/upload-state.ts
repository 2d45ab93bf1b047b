import type { Resource } from '../../../api/client.ts';

type Document = Resource<'Document'>;

/** What happens to a file. `broken`: its connection broke, and it is sent again after a pause. */
export type UploadState =
	| { step: 'waiting' }
	| { step: 'sending'; share: number }
	| { step: 'broken' }
	| { step: 'refused'; error: Error }
	| { step: 'added'; document: Document };

/** Whether a file waits or is being sent. */
export function isUnsent({ step }: UploadState): boolean {
	return step === 'waiting' || step === 'sending' || step === 'broken';
}

/** Whether nothing is left to do. */
export function isDone(state: UploadState): boolean {
	return state.step === 'refused' || (state.step === 'added' && !isBeingIndexed(state.document));
}

/** Whether the server still reads a document. */
export function isBeingIndexed({ status }: Pick<Document, 'status'>): boolean {
	return status === 'queued' || status === 'processing';
}

/** Whether the file has become this document. */
export function isAbout(state: UploadState, documentId: string): boolean {
	return state.step === 'added' && state.document.id === documentId;
}
