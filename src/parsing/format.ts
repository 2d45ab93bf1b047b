import type { DocumentFormat } from '../contract/index.ts';
import { charsetOf, decodeText } from './charset.ts';

/** The number of bytes from the beginning of a file that `sniffFormat` needs. */
export const SNIFF_BYTES = 64 * 1024;

const ZIP = 'PK\x03\x04';

const BY_EXTENSION: Record<string, DocumentFormat> = {
	pdf: 'pdf',
	docx: 'docx',
	docm: 'docx',
	dotx: 'docx',
	xlsx: 'xlsx',
	xlsm: 'xlsx',
	xltx: 'xlsx',
	html: 'html',
	htm: 'html',
	xhtml: 'html',
	md: 'md',
	markdown: 'md',
	txt: 'txt',
	text: 'txt',
	csv: 'csv',
	tsv: 'csv',
	tab: 'csv',
};

const BY_CONTENT_TYPE: Record<string, DocumentFormat> = {
	'application/pdf': 'pdf',
	'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
	'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
	'text/html': 'html',
	'application/xhtml+xml': 'html',
	'text/markdown': 'md',
	'text/x-markdown': 'md',
	'text/csv': 'csv',
	'application/csv': 'csv',
	'text/tab-separated-values': 'csv',
};

/**
 * The format of a file from its first bytes (64 KiB are enough), or null if it is not supported. The content decides; name
 * and Content-Type decide only what the content cannot (Markdown, CSV or plain text). A file that claims to be a PDF or Word
 * document and is not keeps its claim, so that the parser can report what is wrong.
 */
export function sniffFormat(
	head: Uint8Array,
	fileName: string | null,
	contentType: string | null,
): DocumentFormat | null {
	const claimed = claimOf(fileName, contentType);
	const ascii = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, SNIFF_BYTES)).toString('latin1');
	if (ascii.startsWith(ZIP)) return sniffZip(ascii, claimed);
	if (ascii.startsWith('\xd0\xcf\x11\xe0')) return claimed === 'docx' ? 'docx' : null;
	const mark = ascii.slice(0, 1024).indexOf('%PDF-');
	if (mark === 0 || (mark > 0 && (claimed === 'pdf' || ascii.slice(0, mark).trim() === ''))) return 'pdf';
	return sniffText(head.subarray(0, SNIFF_BYTES), claimed, contentType);
}

function claimOf(fileName: string | null, contentType: string | null): DocumentFormat | null {
	const extension = /\.([a-z0-9]+)$/i.exec(fileName ?? '')?.[1]?.toLowerCase() ?? '';
	const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
	return BY_EXTENSION[extension] ?? BY_CONTENT_TYPE[type] ?? null;
}

/** The names in the local headers identify the format; the main part may lie beyond the first bytes. */
function sniffZip(ascii: string, claimed: DocumentFormat | null): DocumentFormat | null {
	const names = localNames(ascii);
	if (names.some((name) => name.startsWith('xl/'))) return 'xlsx';
	if (names.some((name) => /^(?:ppt|visio)\//.test(name) || name === 'mimetype')) return null;
	// The claim decides between the formats whose first part is the list of types.
	if (claimed === 'xlsx' && names.includes('[Content_Types].xml') && !names.some((name) => name.startsWith('word/')))
		return 'xlsx';
	const office = names.some((name) => name.startsWith('word/') || name === '[Content_Types].xml');
	return office || claimed === 'docx' ? 'docx' : null;
}

/** The names of the archive's first files; each is preceded by a local header of 30 bytes that gives its length. */
function localNames(ascii: string): string[] {
	const names: string[] = [];
	for (let at = ascii.indexOf(ZIP); at !== -1; at = ascii.indexOf(ZIP, at + 4)) {
		const length = ascii.charCodeAt(at + 26) | (ascii.charCodeAt(at + 27) << 8);
		names.push(ascii.slice(at + 30, at + 30 + Math.min(length, 512)));
	}
	return names;
}

const HTML_START = /^<(?:!doctype\s+html|html|head|body|title|meta|link|base)[\s>/]/i;
const MARKUP_START = /^<(?:div|p|h[1-6]|table|section|article|main|header|nav|script|style|span|ul|ol)[\s>]/i;
const OTHER_MARKUP = /^<(?:svg[\s>]|!doctype\s)/i;
const OTHER_TEXT = /^(?:\{\\rtf|%!PS)/;

function sniffText(
	head: Uint8Array,
	claimed: DocumentFormat | null,
	contentType: string | null,
): DocumentFormat | null {
	const text = decodeText(head, [charsetOf(contentType)]);
	const start = text === null ? '' : withoutPrologue(text);
	if (HTML_START.test(start)) return 'html';
	if (claimed === 'pdf' || claimed === 'docx') return claimed;
	if (text === null || OTHER_TEXT.test(start)) return null;
	if (claimed !== null) return claimed;
	if (OTHER_MARKUP.test(start) || text.trimStart().startsWith('<?xml')) return null;
	return MARKUP_START.test(start) ? 'html' : 'txt';
}

/** The text from its first character that is neither white space, comment nor processing instruction. */
function withoutPrologue(text: string): string {
	let at = 0;
	while (true) {
		while (/\s/.test(text.charAt(at))) at++;
		const close = text.startsWith('<!--', at) ? '-->' : text.startsWith('<?', at) ? '>' : null;
		const end = close === null ? -1 : text.indexOf(close, at);
		if (close === null || end === -1) return text.slice(at, at + 256);
		at = end + close.length;
	}
}
