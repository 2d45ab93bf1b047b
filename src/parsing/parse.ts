import { AppError } from '../base/index.ts';
import type { DocumentFormat } from '../contract/index.ts';
import type { DocumentSource, ExtractedDocument } from './blocks.ts';
import { charsetOf, decodeText } from './charset.ts';
import { sniffFormat } from './format.ts';
import { MAX_TITLE_CHARACTERS, TextBudget } from './limits.ts';
import { unsupportedFileMessage } from './unsupported.ts';

type Parser = (bytes: Uint8Array, source: DocumentSource) => ExtractedDocument | Promise<ExtractedDocument>;

/**
 * Loads the parser of a format with the libraries that it needs, when the first document of the format is parsed. The
 * main thread only detects formats, so it never loads them.
 */
const LOAD_PARSER: Record<DocumentFormat, () => Promise<Parser>> = {
	pdf: async () => (await import('./pdf.ts')).parsePdf,
	docx: async () => (await import('./docx.ts')).parseDocx,
	xlsx: async () => (await import('./xlsx.ts')).parseXlsx,
	html: async () => {
		const { parseHtml } = await import('./html.ts');
		return (bytes, source) => parseHtml(textOf(bytes, source, metaCharsetOf(bytes)), source);
	},
	md: async () => {
		const { parseMarkdown } = await import('./markdown.ts');
		return (bytes, source) => parseMarkdown(limitedTextOf(bytes, source));
	},
	csv: async () => {
		const { parseCsv } = await import('./csv.ts');
		return (bytes, source) => parseCsv(limitedTextOf(bytes, source));
	},
	txt: async () => {
		const { parsePlainText } = await import('./plain-text.ts');
		return (bytes, source) => parsePlainText(limitedTextOf(bytes, source));
	},
};

/**
 * Reads a document of any supported format. One without text (a scan, an empty file) gives no blocks.
 * @throws AppError `unsupported_file_type`, `unreadable_file` or `resource_limit`, with a sentence for the person who
 * uploaded it
 */
export async function parseDocument(bytes: Uint8Array, source: DocumentSource): Promise<ExtractedDocument> {
	const format = sniffFormat(bytes, source.file_name, source.content_type);
	if (format === null) {
		throw new AppError('unsupported_file_type', unsupportedFileMessage(bytes, source.file_name));
	}
	// Outside the try block: a parser that cannot be loaded says nothing about the file.
	const parse = await LOAD_PARSER[format]();
	try {
		const document = await parse(bytes, source);
		return { ...document, title: document.title?.slice(0, MAX_TITLE_CHARACTERS).trim() || null };
	} catch (error) {
		if (error instanceof AppError) throw error;
		throw new AppError('unreadable_file', 'The file is damaged or too unusual to be read.', { cause: error });
	}
}

function limitedTextOf(bytes: Uint8Array, source: DocumentSource): string {
	const text = textOf(bytes, source, null);
	new TextBudget().spend(text);
	return text;
}

/** @param namedInPage the charset that the document itself names, where its format can name one */
function textOf(bytes: Uint8Array, source: DocumentSource, namedInPage: string | null): string {
	const text = decodeText(bytes, [charsetOf(source.content_type), namedInPage]);
	if (text === null) throw new AppError('unsupported_file_type', 'The file holds data, not text.');
	return text;
}

/** The charset that a page names in its first kilobytes. */
function metaCharsetOf(bytes: Uint8Array): string | null {
	const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 8192)).toString('latin1');
	return (
		/<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1] ?? /encoding=["']([\w-]+)/.exec(head)?.[1] ?? null
	);
}
