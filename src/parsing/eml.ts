import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import { AppError } from '../base/index.ts';
import { type Block, type DocumentSource, type ExtractedDocument, stripInvisible, toSingleLine } from './blocks.ts';
import { sniffFormat } from './format.ts';
import { contentBlocks } from './html.ts';
import { resourceLimit, TextBudget } from './limits.ts';
import { parsePlainText } from './plain-text.ts';

/** Parses a file within the message. */
export type ParseNested = (bytes: Uint8Array, source: DocumentSource) => Promise<ExtractedDocument>;

/** 35 MB of attachments have 500,000. */
const MAX_LINES = 500_000;
const MAX_ATTACHMENTS = 100;
/** All attachments of a message after decoding. */
const MAX_ATTACHMENT_BYTES = 100 * 1024 * 1024;
/** Messages within the message are read like other attachments. */
const MIME_OPTIONS = { maxNestingDepth: 50, forceRfc822Attachments: true, maxHeadersSize: 1024 * 1024 };

/**
 * Reads a mail message (RFC 5322 with MIME): its subject as heading, sender and date, its text, and each attachment that is a document
 * as a section under its file name. Attachments that are not read are named.
 * @throws AppError `unreadable_file` or `resource_limit`
 */
export async function parseEml(bytes: Uint8Array, parseNested: ParseNested): Promise<ExtractedDocument> {
	requireFewLines(bytes);
	const email = await PostalMime.parse(bytes, MIME_OPTIONS);
	if (email.headers.length === 0) throw new AppError('unreadable_file', 'This is not a mail message.');
	const subject = toSingleLine(email.subject ?? '');
	const blocks: Block[] = [];
	const budget = new TextBudget();
	const add = (block: Block) => {
		budget.spend(block.text);
		blocks.push(block);
	};
	if (subject !== '') add({ kind: 'heading', level: 1, text: subject, page: null });
	const envelope = envelopeOf(email);
	if (envelope !== '') add({ kind: 'paragraph', text: envelope, page: null });
	for (const block of bodyOf(email)) add(asPart(block, subject === '' ? 0 : 1));
	let has_scans = false;
	const missing: string[] = [];
	const parseAttachment: ParseNested = async (bytes, source) => {
		const document = await parseNested(bytes, source);
		has_scans ||= document.has_scans === true;
		if (document.missing_text !== undefined) missing.push(document.missing_text);
		return document;
	};
	// The first block beyond the limit ends the parsing of the attachments.
	for await (const block of attachmentBlocks(email.attachments, parseAttachment)) add(block);
	const missing_text = missing.length === 0 ? {} : { missing_text: missing.join(' ') };
	const title = subject || null;
	return { format: 'eml', title, declared_language: null, page_count: null, has_scans, ...missing_text, blocks };
}

/** The library reads line by line. */
function requireFewLines(bytes: Uint8Array): void {
	let lines = 0;
	for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) lines++;
	if (lines > MAX_LINES) {
		throw resourceLimit(
			`The message has more than ${MAX_LINES.toLocaleString('en')} lines. Upload its attachments by themselves.`,
		);
	}
}

/** Sender and date, a line each. */
function envelopeOf({ from, date, headers }: Email): string {
	const lines: string[] = [];
	if (from !== undefined) lines.push(`From: ${nameOf(from)}`);
	// The library converts the date to UTC, where it may be another day.
	const written = headers.find(({ key }) => key === 'date')?.value ?? date;
	if (written !== undefined) lines.push(`Date: ${dayOf(written)}`);
	return stripInvisible(lines.join('\n'));
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** The day of a date in the zone of its sender (RFC 5322, 3.3), as `2026-11-23`; other dates as they are. */
function dayOf(date: string): string {
	const [, day = '', month = '', year = ''] = /\b(\d{1,2})\s+([a-z]{3})\s+(\d{4})\b/i.exec(date) ?? [];
	const number = MONTHS.indexOf(month.toLowerCase()) + 1;
	return number === 0 ? toSingleLine(date) : `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`;
}

function nameOf({ name, address = '' }: Address): string {
	if (name === '' || address === '') return toSingleLine(name || address);
	return toSingleLine(`${name} <${address}>`);
}

/** The text of the message; the form with markup where it has one, because that keeps tables and lists. */
function bodyOf({ html, text }: Email): Block[] {
	const blocks = html === undefined ? [] : contentBlocks(html);
	return blocks.length > 0 ? blocks : parsePlainText(text ?? '').blocks;
}

/** A block of a part of the message. Its headings stand below that of the part, and its pages are not pages of the message. */
function asPart(block: Block, levels: number): Block {
	if (block.kind !== 'heading') return { ...block, page: null };
	return { ...block, level: block.level + levels, page: null };
}

async function* attachmentBlocks(attachments: Attachment[], parseNested: ParseNested): AsyncGenerator<Block> {
	let count = 0;
	let size = 0;
	const unread: string[] = [];
	for (const { content, filename, mimeType, disposition, related } of attachments) {
		const bytes = typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content);
		const name = toSingleLine(filename ?? '') || null;
		if (!isDocument(bytes, name, mimeType)) {
			// Pictures within the text are not attached.
			const isAttached = disposition === 'attachment' && related !== true;
			if (isAttached && name !== null && unread.length < MAX_ATTACHMENTS) unread.push(name);
			continue;
		}
		size += bytes.byteLength;
		if (++count > MAX_ATTACHMENTS || size > MAX_ATTACHMENT_BYTES) {
			throw resourceLimit(`The message has more than ${MAX_ATTACHMENTS} attachments or 100 MB of them.`);
		}
		const document = await readAttachment(bytes, { file_name: name, content_type: mimeType, url: null }, parseNested);
		if (document === null || document.blocks.length === 0) {
			if (name !== null) yield { kind: 'paragraph', text: `The attachment ${name} could not be read.`, page: null };
			continue;
		}
		// An attached message without a file name begins with its subject as heading.
		const heading = name ?? (document.blocks[0]?.kind === 'heading' ? null : document.title);
		if (heading !== null) yield { kind: 'heading', level: 1, text: heading, page: null };
		for (const block of document.blocks) yield asPart(block, heading === null ? 0 : 1);
	}
	if (unread.length > 0) {
		const text = `Attachments that are no documents: ${unread.join(', ')}`;
		yield { kind: 'paragraph', text, page: null };
	}
}

/** Whether an attachment is a document. Calendar entries, signatures and address cards are texts for programs. */
function isDocument(bytes: Uint8Array, name: string | null, type: string): boolean {
	const format = sniffFormat(bytes, name, type);
	return format !== null && (format !== 'txt' || type === 'text/plain' || /\.te?xt$/i.test(name ?? ''));
}

async function readAttachment(
	bytes: Uint8Array,
	source: DocumentSource,
	parseNested: ParseNested,
): Promise<ExtractedDocument | null> {
	try {
		return await parseNested(bytes, source);
	} catch (error) {
		// The other attachments are still read, unless a limit is exceeded: that ends the whole message.
		if (error instanceof AppError && error.code !== 'resource_limit') return null;
		throw error;
	}
}
