import { AppError } from '../base/index.ts';
import type { DocumentFormat } from '../contract/index.ts';
import type { DocumentSource, ExtractedDocument } from './blocks.ts';
import { charsetOfContentType, decodeText } from './charset.ts';
import { sniffFormat } from './format.ts';
import { MAX_TITLE_CHARACTERS, resourceLimit, TextBudget } from './limits.ts';
import type { ScanHandling } from './pdf-scans.ts';
import { unsupportedFileMessage } from './unsupported.ts';

/** What a parser has besides the bytes. */
interface ParserContext {
	source: DocumentSource;
	scans: ScanHandling;
	/** Parses a file within the document. */
	parseNested(bytes: Uint8Array, source: DocumentSource): Promise<ExtractedDocument>;
}

type Parser = (bytes: Uint8Array, context: ParserContext) => ExtractedDocument | Promise<ExtractedDocument>;

/** Files within files: an attachment of a message that is an attachment of a message. */
const MAX_NESTING_DEPTH = 3;

/**
 * Loads the parser of a format with the libraries that it needs, when the first document of the format is parsed. The
 * main thread only detects formats, so it never loads them.
 */
const LOAD_PARSER: Record<DocumentFormat, () => Promise<Parser>> = {
	pdf: async () => {
		const { parsePdf } = await import('./pdf.ts');
		return (bytes, { scans }) => parsePdf(bytes, scans);
	},
	docx: async () => (await import('./docx.ts')).parseDocx,
	xlsx: async () => (await import('./xlsx.ts')).parseXlsx,
	pptx: async () => (await import('./pptx.ts')).parsePptx,
	odt: async () => (await import('./odt.ts')).parseOdt,
	odp: async () => (await import('./odt.ts')).parseOdp,
	ods: async () => (await import('./ods.ts')).parseOds,
	rtf: async () => (await import('./rtf.ts')).parseRtf,
	epub: async () => (await import('./epub.ts')).parseEpub,
	eml: async () => {
		const { parseEml } = await import('./eml.ts');
		return (bytes, { parseNested }) => parseEml(bytes, parseNested);
	},
	html: async () => {
		const { parseHtml } = await import('./html.ts');
		return (bytes, { source }) => parseHtml(textOf(bytes, source, metaCharsetOf(bytes)), source);
	},
	md: async () => {
		const { parseMarkdown } = await import('./markdown.ts');
		return (bytes, { source }) => parseMarkdown(limitedTextOf(bytes, source));
	},
	csv: async () => {
		const { parseCsv } = await import('./csv.ts');
		return (bytes, { source }) => parseCsv(limitedTextOf(bytes, source));
	},
	txt: async () => {
		const { parsePlainText } = await import('./plain-text.ts');
		return (bytes, { source }) => parsePlainText(limitedTextOf(bytes, source));
	},
};

/**
 * Reads a document of any supported format. One without text (an empty file) gives no blocks.
 * @param scans what to do about scanned pages; nothing by default
 * @throws AppError `unsupported_file_type`, `unreadable_file` or `resource_limit`, with a sentence for the person who
 * uploaded it
 */
export function parseDocument(
	bytes: Uint8Array,
	source: DocumentSource,
	scans: ScanHandling = undefined,
): Promise<ExtractedDocument> {
	return parseAtDepth(bytes, source, scans, 0);
}

async function parseAtDepth(
	bytes: Uint8Array,
	source: DocumentSource,
	scans: ScanHandling,
	depth: number,
): Promise<ExtractedDocument> {
	if (depth > MAX_NESTING_DEPTH) throw resourceLimit('The file holds too many files within each other.');
	const format = sniffFormat(bytes, source.file_name, source.content_type);
	if (format === null) {
		throw new AppError('unsupported_file_type', unsupportedFileMessage(bytes, source.file_name));
	}
	// Outside the try block: a parser that cannot be loaded says nothing about the file.
	const parse = await LOAD_PARSER[format]();
	try {
		const parseNested: ParserContext['parseNested'] = (bytes, source) => parseAtDepth(bytes, source, scans, depth + 1);
		const document = await parse(bytes, { source, scans, parseNested });
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
	const text = decodeText(bytes, [charsetOfContentType(source.content_type), namedInPage]);
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
