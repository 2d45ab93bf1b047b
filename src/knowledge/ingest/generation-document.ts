import type { ParsedDocument } from '../../contract/index.ts';
import type { DocumentRecord, Write } from '../../store/index.ts';

/** The uploader's title, else the document's own, else the file name or URL. */
export function titleOf(document: DocumentRecord, parsed: ParsedDocument): string {
	return (document.title || parsed.title || document.file_name || document.url || 'Untitled').slice(0, 500);
}

/**
 * The write that adds a document without vectors to a generation under construction. The basis is trained when all documents
 * are there.
 * @param version the version of the document's record that was parsed
 */
export function addToGeneration(
	generation: string,
	document: DocumentRecord,
	{ language, page_count, chunks, missing_text }: ParsedDocument,
	version: number,
): Write {
	return {
		op: 'index.add_document',
		generation,
		document_id: document.id,
		title: document.title,
		url: document.url,
		language,
		chunks,
		basis: null,
		vectors: null,
		built_from: { version, page_count, missing_text: missing_text ?? null },
	};
}
