import { type Signal, signal } from '@preact/signals';
import { ApiError } from '../../../api/api-error.ts';
import { api, type Resource, resultOf } from '../../../api/client.ts';
import { sendForm } from '../../../api/upload.ts';
import type { ChosenFile } from './chosen-files.ts';
import { isAbout, isBeingIndexed, isDone, isUnsent, type UploadState } from './upload-state.ts';

type Document = Resource<'Document'>;

export interface UploadItem {
	id: string;
	file: File;
	/** The file's name with its folders. */
	path: string;
	readonly state: Signal<UploadState>;
}

/** Files that are sent at once. */
const MAX_SENDING = 3;
/** Files that one queue holds. */
const MAX_ITEMS = 5_000;
/** Documents that are remembered while files are being sent. */
const MAX_EARLY = 1_000;
/** Waits before the repeats of an upload whose connection broke, or which a busy server refused (ms). */
const REPEAT_DELAYS_MS = [1_000, 2_000, 4_000, 8_000, 16_000];

/** The files that this tab adds to a knowledge base. It goes on while the person looks at other pages of the dashboard. */
export class UploadQueue {
	readonly items = signal<readonly UploadItem[]>([]);
	readonly isPaused = signal(false);
	/** Counts the changes of the items' states, for those who show a summary. */
	readonly changes = signal(0);
	readonly #knowledgeBaseId: string;
	readonly #path: string;
	readonly #aborts = new Map<UploadItem, AbortController>();
	/** Documents that were reported while files were being sent, by id. */
	readonly #early = new Map<string, Document>();

	constructor(knowledgeBaseId: string) {
		this.#knowledgeBaseId = knowledgeBaseId;
		this.#path = `api/v1/knowledge-bases/${encodeURIComponent(knowledgeBaseId)}/documents`;
	}

	/** Whether files wait or are being sent. */
	get isActive(): boolean {
		return this.items.value.some(({ state }) => isUnsent(state.value));
	}

	/** Adds files at the end. @returns how many did not fit */
	add(files: readonly ChosenFile[]): number {
		const taken = files.slice(0, Math.max(0, MAX_ITEMS - this.items.value.length));
		const added = taken.map(({ file, path }) => ({
			id: crypto.randomUUID(),
			file,
			path,
			state: signal<UploadState>({ step: 'waiting' }),
		}));
		this.items.value = [...this.items.value, ...added];
		this.#startNext();
		return files.length - taken.length;
	}

	/** Stops sending. What was being sent waits, and is sent again from its beginning. */
	pause(): void {
		this.isPaused.value = true;
		for (const item of [...this.#aborts.keys()]) this.#interrupt(item, { step: 'waiting' });
	}

	resume(): void {
		this.isPaused.value = false;
		this.#startNext();
	}

	/** Takes a file out of the queue. A document that it has become stays. */
	remove(item: UploadItem): void {
		this.#interrupt(item, item.state.value);
		this.items.value = this.items.value.filter((other) => other !== item);
		this.#startNext();
	}

	/** Takes out the files that wait or are being sent. */
	cancelAll(): void {
		const unsent = this.items.value.filter(({ state }) => isUnsent(state.value));
		this.items.value = this.items.value.filter((item) => !unsent.includes(item));
		for (const item of unsent) this.#interrupt(item, item.state.value);
		this.isPaused.value = false;
	}

	/** Sends a refused file again, with its key: if the server has it already, it is not added twice. */
	retry(item: UploadItem): void {
		this.#set(item, { step: 'waiting' });
		this.#startNext();
	}

	/** Forgets the files of which nothing is left to do. */
	clearDone(): void {
		this.items.value = this.items.value.filter(({ state }) => !isDone(state.value));
	}

	/** Shows the present state of a document. A notice may arrive before the response to the upload. */
	update(document: Document): void {
		const item = this.items.value.find(({ state: { value } }) => isAbout(value, document.id));
		if (item) this.#set(item, { step: 'added', document });
		else if (this.#aborts.size > 0 && this.#early.size < MAX_EARLY) this.#early.set(document.id, document);
	}

	/** Reads the documents again that are still being indexed, after notices of them may have been missed. */
	async readAgain(): Promise<void> {
		for (const { state } of this.items.value) {
			const shown = state.value;
			if (shown.step !== 'added' || !isBeingIndexed(shown.document)) continue;
			const path = { id: this.#knowledgeBaseId, doc_id: shown.document.id };
			const call = api.GET('/api/v1/knowledge-bases/{id}/documents/{doc_id}', { params: { path } });
			const document = await resultOf(call).catch(() => null);
			if (document) this.update(document);
		}
	}

	/** Forgets the file of a removed document. */
	forget(documentId: string): void {
		this.items.value = this.items.value.filter(({ state: { value } }) => !isAbout(value, documentId));
	}

	#startNext(): void {
		if (this.isPaused.value) return;
		for (const item of this.items.value) {
			if (this.#aborts.size >= MAX_SENDING) return;
			if (item.state.value.step === 'waiting') void this.#send(item);
		}
	}

	async #send(item: UploadItem): Promise<void> {
		const abort = new AbortController();
		this.#aborts.set(item, abort);
		const show = (state: UploadState) => {
			if (!abort.signal.aborted) this.#set(item, state);
		};
		for (let repeats = 0; !abort.signal.aborted; repeats++) {
			show({ step: 'sending', share: 0 });
			try {
				const document = await this.#sendOnce(item, show, abort.signal);
				show({ step: 'added', document: this.#newest(document) });
				break;
			} catch (error) {
				const delay = REPEAT_DELAYS_MS[repeats];
				if (delay === undefined || !isTemporary(error)) {
					show({ step: 'refused', error: error as Error });
					break;
				}
				show({ step: 'broken' });
				await pause(
					Math.max(delay, 1_000 * ((error instanceof ApiError ? error.retryAfter : null) ?? 0)),
					abort.signal,
				);
			}
		}
		if (this.#aborts.get(item) === abort) this.#aborts.delete(item);
		if (this.#aborts.size === 0) this.#early.clear();
		this.#startNext();
	}

	/** The document of a response; if a later state of it was reported before, that state. */
	#newest(document: Document): Document {
		const early = this.#early.get(document.id) ?? document;
		this.#early.delete(document.id);
		return early;
	}

	#sendOnce({ id, file }: UploadItem, show: (state: UploadState) => void, signal: AbortSignal): Promise<Document> {
		const form = new FormData();
		form.set('file', file);
		const onProgress = (share: number) => show({ step: 'sending', share });
		return sendForm<Document>({ path: this.#path, form, key: id, onProgress, signal });
	}

	#interrupt(item: UploadItem, state: UploadState): void {
		this.#aborts.get(item)?.abort();
		this.#aborts.delete(item);
		this.#set(item, state);
	}

	#set(item: UploadItem, state: UploadState): void {
		item.state.value = state;
		this.changes.value++;
	}
}

/** Whether the same request may succeed later: the connection broke, or the server is busy. */
function isTemporary(error: unknown): boolean {
	return error instanceof TypeError || (error instanceof ApiError && (error.status === 429 || error.status >= 500));
}

/** Waits, or less if the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		const timer = setTimeout(resolve, ms);
		const end = () => {
			clearTimeout(timer);
			resolve();
		};
		signal.addEventListener('abort', end, { once: true });
	});
}
