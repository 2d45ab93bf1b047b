import type { ParsedDocument } from '../../contract/index.ts';
import type { DocumentRecord, Write } from '../../store/index.ts';

/** What the uploader said, else what the document says, else where it came from. */
export function titleOf(document: DocumentRecord, parsed: ParsedDocument): string {
	return (document.title || parsed.title || document.file_name || document.url || 'Untitled').slice(0, 500);
}

/**
 * The write that puts a document into a generation that is being built, without vectors: its basis is trained when all
 * documents are there.
 * @param version of the document's record that this stands for
 */
export function addToGeneration(
	generation: string,
	document: DocumentRecord,
	{ language, page_count, chunks }: ParsedDocument,
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
		built_from: { version, page_count },
	};
}
