import { AppError, type Clock } from '../../base/index.ts';
import type { Network } from '../../net/index.ts';
import { sniffFormat } from '../../parsing/index.ts';
import { type DocumentRecord, expectVersion, type IncomingBlob, type Store } from '../../store/index.ts';
import type { Documents } from '../documents.ts';

/** The dependencies of fetching. */
export interface FetchDependencies {
	store: Store;
	network: Pick<Network, 'download'>;
	documents: Pick<Documents, 'removeUnusedBlob'>;
	clock: Clock;
}

/** A document whose bytes are stored. */
export type FetchedDocument = DocumentRecord & { blob: string };

/**
 * Downloads a document's URL into the blob store; null if the document was removed meanwhile.
 * @throws AppError with the reason why the URL gives no document
 */
export async function fetchDocument(
	{ store, network, clock, documents }: FetchDependencies,
	document: DocumentRecord,
	signal: AbortSignal,
): Promise<FetchedDocument | null> {
	if (!document.url) throw new AppError('unreadable_file', 'The document has neither a file nor a URL.');
	await using download = await network.download(document.url, { signal });
	const blob = await store.blobs.receive(download.body);
	const content_type = download.headers['content-type'] ?? null;
	const file_name = fileNameOf(download.finalUrl);
	const rejection = rejectionOf(blob, file_name, content_type);
	if (rejection) {
		await blob.discard();
		throw rejection;
	}
	const set = { blob: blob.hash, size_bytes: blob.size, content_type, file_name, updated_at: clock.now() };
	const kept = await store.blobs.exclusive(blob.hash, async () => {
		await blob.persist();
		const { outcome } = await store.commit({
			expect: [expectVersion('documents', document)],
			write: [{ op: 'patch', kind: 'documents', id: document.id, set }],
		});
		return outcome === 'committed';
	});
	if (kept) return { ...document, ...set, version: document.version + 1 };
	await documents.removeUnusedBlob(blob.hash);
	return null;
}

/** The reason why a download is not a document; null if it may be one. */
export function rejectionOf(blob: IncomingBlob, fileName: string | null, contentType: string | null): AppError | null {
	if (blob.size === 0)
		return new AppError(
			'no_text',
			'The file at the URL is empty. Import a URL that leads to a document with text in it.',
		);
	if (sniffFormat(blob.head, fileName, contentType)) return null;
	return new AppError(
		'unsupported_file_type',
		'The URL does not lead to a PDF, DOCX, XLSX, PPTX, ODT, ODS, ODP, RTF, EPUB, EML, HTML, CSV, MD or TXT document.',
	);
}

/** The last segment of the address. It may have an extension that names the format. */
export function fileNameOf(url: string): string | null {
	const name = new URL(url).pathname.split('/').at(-1) ?? '';
	try {
		return decodeURIComponent(name) || null;
	} catch {
		return name;
	}
}
