import { AppError } from '../../base/index.ts';
import type { DocumentFormat } from '../../contract/index.ts';
import type { DocumentSource, ExtractedDocument } from './blocks.ts';
import { charsetOf, decodeText } from './charset.ts';
import { parseDocx } from './docx.ts';
import { sniffFormat } from './format.ts';
import { parseHtml } from './html.ts';
import { MAX_TITLE_CHARACTERS, TextBudget } from './limits.ts';
import { parseMarkdown } from './markdown.ts';
import { parsePdf } from './pdf.ts';
import { parsePlainText } from './plain-text.ts';

/**
 * Reads a document of any supported format. One without text (a scan, an empty file) gives no blocks.
 * @throws AppError `unsupported_file_type`, `unreadable_file` or `resource_limit`, with a sentence for the person who
 * uploaded it
 */
export async function parseDocument(bytes: Uint8Array, source: DocumentSource): Promise<ExtractedDocument> {
	const format = sniffFormat(bytes, source.file_name, source.content_type);
	if (format === null) throw new AppError('unsupported_file_type');
	try {
		const document = await parseFormat(format, bytes, source);
		return { ...document, title: document.title?.slice(0, MAX_TITLE_CHARACTERS).trim() || null };
	} catch (error) {
		if (error instanceof AppError) throw error;
		throw new AppError('unreadable_file', 'The file is damaged or too unusual to be read.', { cause: error });
	}
}

function parseFormat(
	format: DocumentFormat,
	bytes: Uint8Array,
	source: DocumentSource,
): ExtractedDocument | Promise<ExtractedDocument> {
	if (format === 'pdf') return parsePdf(bytes);
	return format === 'docx' ? parseDocx(bytes) : parseText(format, bytes, source);
}

function parseText(format: Exclude<DocumentFormat, 'pdf' | 'docx'>, bytes: Uint8Array, source: DocumentSource) {
	const declared = [charsetOf(source.content_type), format === 'html' ? metaCharsetOf(bytes) : null];
	const text = decodeText(bytes, declared);
	if (text === null) throw new AppError('unsupported_file_type', 'The file holds data, not text.');
	if (format === 'html') return parseHtml(text, source);
	new TextBudget().spend(text);
	return format === 'md' ? parseMarkdown(text) : parsePlainText(text);
}

/** The charset that a page names in its first kilobytes. */
function metaCharsetOf(bytes: Uint8Array): string | null {
	const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 8192)).toString('latin1');
	return (
		/<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1] ?? /encoding=["']([\w-]+)/.exec(head)?.[1] ?? null
	);
}
