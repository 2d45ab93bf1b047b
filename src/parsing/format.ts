import type { DocumentFormat } from '../contract/index.ts';
import { charsetOfContentType, decodeText } from './charset.ts';

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
	pptx: 'pptx',
	pptm: 'pptx',
	ppsx: 'pptx',
	potx: 'pptx',
	odt: 'odt',
	ott: 'odt',
	ods: 'ods',
	ots: 'ods',
	odp: 'odp',
	otp: 'odp',
	epub: 'epub',
	eml: 'eml',
	rtf: 'rtf',
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
	'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
	'application/vnd.oasis.opendocument.text': 'odt',
	'application/vnd.oasis.opendocument.text-template': 'odt',
	'application/vnd.oasis.opendocument.spreadsheet': 'ods',
	'application/vnd.oasis.opendocument.presentation': 'odp',
	'application/vnd.oasis.opendocument.presentation-template': 'odp',
	'application/vnd.oasis.opendocument.spreadsheet-template': 'ods',
	'application/epub+zip': 'epub',
	'message/rfc822': 'eml',
	'application/rtf': 'rtf',
	'text/rtf': 'rtf',
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
 * and Content-Type decide only what the content cannot (Markdown, CSV or plain text). For a file with the
 * name or type of a PDF or an Office document, that format is returned even if the content is another, so that its parser reports
 * the reason.
 */
export function sniffFormat(
	head: Uint8Array,
	fileName: string | null,
	contentType: string | null,
): DocumentFormat | null {
	const claimed = claimOf(fileName, contentType);
	const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, SNIFF_BYTES));
	const ascii = bytes.toString('latin1');
	if (ascii.startsWith(ZIP)) return OTHER_ARCHIVE.test(fileName ?? '') ? null : sniffZip(bytes, claimed);
	// A document with a password is kept in such a file, and its parser says so.
	if (ascii.startsWith('\xd0\xcf\x11\xe0')) return isOffice(claimed) ? claimed : null;
	if (ascii.startsWith('{\\rtf')) return 'rtf';
	const mark = ascii.slice(0, 1024).indexOf('%PDF-');
	if (mark === 0 || (mark > 0 && (claimed === 'pdf' || ascii.slice(0, mark).trim() === ''))) return 'pdf';
	return sniffText(head.subarray(0, SNIFF_BYTES), claimed, fileName, contentType);
}

/** Archives that look like those of Office, with other parts, and packages of Apple's programs. */
const OTHER_ARCHIVE = /\.(?:xlsb|pages|numbers|key)$/i;
/** A file of many messages, and a web page with its pictures. Their texts are encoded. */
const MAILBOX_START = /^From \S{1,300} .{0,60}\d{4}[^\n]{0,20}\n[A-Z][\w-]{0,60}:/;
const WEB_ARCHIVE_START = /^(?:[\w-]{1,60}:.{0,998}\n(?:[ \t].{0,998}\n)*){0,6}Content-Type: multipart\/related/i;
const WEB_ARCHIVE_NAME = /\.mht(?:ml)?$/i;

/** The known type of a text that is not supported; null for other texts. */
export function otherTextKind(text: string, fileName: string | null): 'mailbox' | 'web archive' | null {
	if (MAILBOX_START.test(text.slice(0, 1000))) return 'mailbox';
	const isArchive = WEB_ARCHIVE_NAME.test(fileName ?? '') || /^From: <Saved by /.test(text);
	return isArchive && WEB_ARCHIVE_START.test(text.slice(0, 4096)) ? 'web archive' : null;
}

function isOffice(format: DocumentFormat | null): boolean {
	return format === 'docx' || format === 'xlsx' || format === 'pptx';
}

/** The claim of a file that is an archive with a part for its type. */
function archiveClaim(claimed: DocumentFormat | null): DocumentFormat | null {
	return claimed === 'odt' || claimed === 'ods' || claimed === 'odp' || claimed === 'epub' ? claimed : null;
}

function claimOf(fileName: string | null, contentType: string | null): DocumentFormat | null {
	const extension = /\.([a-z0-9]+)$/i.exec(fileName ?? '')?.[1]?.toLowerCase() ?? '';
	const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
	return BY_EXTENSION[extension] ?? BY_CONTENT_TYPE[type] ?? null;
}

/** The formats by the folder of their parts in an archive. */
const BY_FOLDER: Array<[folder: string, format: DocumentFormat]> = [
	['word/', 'docx'],
	['xl/', 'xlsx'],
	['ppt/', 'pptx'],
];
/** The formats whose archive begins with a part that has their type, uncompressed (ISO/IEC 26300-3, 3.3; EPUB 3.3, 4.3.3). */
const TYPE_PART = 'mimetype';

/** The names in the local headers identify the format; the main part may lie beyond the first bytes. */
function sniffZip(bytes: Buffer, claimed: DocumentFormat | null): DocumentFormat | null {
	const files = localFiles(bytes);
	for (const { name, content } of files) {
		const format = BY_FOLDER.find(([folder]) => name.startsWith(folder))?.[1];
		if (format !== undefined) return format;
		if (/^visio\//.test(name)) return null;
		// Some programs compress it, although they must not.
		if (name === TYPE_PART)
			return content === '' ? archiveClaim(claimed) : (BY_CONTENT_TYPE[content.toLowerCase()] ?? null);
	}
	// Some programs leave it out, although they must not.
	if (files.some(({ name }) => name === 'META-INF/container.xml' || name === 'content.xml')) {
		const format = archiveClaim(claimed);
		if (format !== null) return format;
	}
	// The claim decides between the formats whose first part is the list of types.
	const isPackage = files.some(({ name }) => name === '[Content_Types].xml');
	if (isOffice(claimed) && (isPackage || claimed === 'docx')) return claimed;
	return isPackage ? 'docx' : null;
}

const LOCAL_HEADER_BYTES = 30;
/** The sizes are not in the header but after the data (APPNOTE.TXT, 4.4.4). */
const SIZES_FOLLOW = 0x08;

/** A file of an archive. */
interface LocalFile {
	name: string;
	/** Its content, if it is short and not compressed. */
	content: string;
}

/** The first files of an archive. The data of a file is passed over: it may be an archive, too. */
function localFiles(bytes: Buffer): LocalFile[] {
	const files: LocalFile[] = [];
	const signature = Buffer.from(ZIP, 'latin1');
	let at = 0;
	while (at !== -1 && at + LOCAL_HEADER_BYTES <= bytes.length) {
		const nameStart = at + LOCAL_HEADER_BYTES;
		const length = bytes.readUInt16LE(at + 26);
		const data = nameStart + length + bytes.readUInt16LE(at + 28);
		const size = (bytes.readUInt16LE(at + 6) & SIZES_FOLLOW) !== 0 ? 0 : bytes.readUInt32LE(at + 18);
		const isStored = bytes.readUInt16LE(at + 8) === 0;
		files.push({
			name: bytes.toString('latin1', nameStart, nameStart + Math.min(length, 512)),
			content: isStored ? bytes.toString('latin1', data, data + Math.min(size, 128)).trim() : '',
		});
		at = bytes.indexOf(signature, data + size);
	}
	return files;
}

const HTML_START = /^<(?:!doctype\s+html|html|head|body|title|meta|link|base)[\s>/]/i;
const MARKUP_START = /^<(?:div|p|h[1-6]|table|section|article|main|header|nav|script|style|span|ul|ol)[\s>]/i;
const OTHER_MARKUP = /^<(?:svg[\s>]|!doctype\s)/i;
const OTHER_TEXT = /^%!PS/;

/** The first header fields of a stored mail message (RFC 5322). */
const MAIL_START =
	/^(?:(?:Return-Path|Delivered-To|Received|X-[\w-]{1,60}|MIME-Version|Message-ID|From|Date): .{1,998}\n(?:[ \t].{0,998}\n)*){4}/;

function sniffText(
	head: Uint8Array,
	claimed: DocumentFormat | null,
	fileName: string | null,
	contentType: string | null,
): DocumentFormat | null {
	const text = decodeText(head, [charsetOfContentType(contentType)]);
	const start = text === null ? '' : withoutPrologue(text);
	if (HTML_START.test(start)) return 'html';
	if (claimed === 'pdf' || isOffice(claimed)) return claimed;
	// Plain text with the name of an RTF document is read as plain text.
	if (claimed === 'rtf') return text === null ? null : 'txt';
	if (text === null || OTHER_TEXT.test(start) || otherTextKind(text, fileName) !== null) return null;
	if (claimed !== null) return claimed;
	if (MAIL_START.test(text.slice(0, 4096))) return 'eml';
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
