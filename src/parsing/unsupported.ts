import { otherTextKind } from './format.ts';

/** The signatures of picture files, with the names of their types. */
const PICTURES: Array<[name: string, signature: RegExp]> = [
	['PNG', /^\x89PNG/],
	['JPEG', /^\xff\xd8\xff/],
	['GIF', /^GIF8/],
	['WebP', /^RIFF.{4}WEBP/s],
	['TIFF', /^(?:II\*\0|MM\0\*)/],
	['BMP', /^BM.{4}\0{4}/s],
	['HEIC', /^.{4}ftyp(?:heic|heix|mif1|avif)/s],
];

/** The kinds of the compound file format that Office had before 2007, by extension and by the name of their main stream. */
const LEGACY_OFFICE: Array<[extension: RegExp, stream: string, sentence: string]> = [
	[/\.do[ct]$/i, 'WordDocument', 'Old Word documents (.doc) cannot be read. Save the document as .docx or PDF.'],
	[/\.xl[st]$/i, 'Workbook', 'Old Excel files (.xls) cannot be read. Save the file as .xlsx or CSV.'],
	[
		/\.p[po][st]$/i,
		'PowerPoint Document',
		'Old PowerPoint files (.ppt) cannot be read. Save the file as .pptx or PDF.',
	],
	[/\.msg$/i, '__nameid_version1.0', 'Outlook messages (.msg) cannot be read. Save the message as .eml or PDF.'],
];

/** Archives identified by their extension. */
const ARCHIVES: Array<[extension: RegExp, sentence: string]> = [
	[/\.xlsb$/i, 'Binary Excel files (.xlsb) cannot be read. Save the file as .xlsx or CSV.'],
	[/\.pages$/i, 'Pages documents (.pages) cannot be read. Export the document as PDF or Word.'],
	[/\.numbers$/i, 'Numbers spreadsheets (.numbers) cannot be read. Export the spreadsheet as Excel or CSV.'],
	[/\.key$/i, 'Keynote presentations (.key) cannot be read. Export the presentation as PDF or PowerPoint.'],
];

/**
 * What a file is whose type is not supported, and what to do instead; undefined if its type is unknown.
 * @param head its first bytes
 */
export function unsupportedFileMessage(head: Uint8Array, fileName: string | null): string | undefined {
	const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, 64 * 1024));
	const ascii = bytes.toString('latin1');
	const name = fileName ?? '';
	const picture = PICTURES.find(([, signature]) => signature.test(ascii))?.[0];
	if (picture !== undefined) {
		return `Pictures (${picture}) cannot be read. Run text recognition (OCR) on the picture and upload the result as a PDF or text.`;
	}
	if (ascii.startsWith('\xd0\xcf\x11\xe0')) {
		// [MS-OFFCRYPTO]: the stream that holds a document with a password.
		if (bytes.includes(Buffer.from('EncryptedPackage', 'utf16le'))) {
			return 'This Office file is protected with a password. Remove the password and upload the file again.';
		}
		const found =
			LEGACY_OFFICE.find(([extension]) => extension.test(name)) ??
			LEGACY_OFFICE.find(([, stream]) => bytes.includes(Buffer.from(stream, 'utf16le')));
		return found?.[2] ?? 'Office files from before 2007 cannot be read. Save the file as .docx, .xlsx or PDF.';
	}
	const other = otherTextKind(ascii.replaceAll('\r', ''), fileName);
	if (other === 'mailbox') return 'Mailboxes (.mbox) cannot be read. Save each message as .eml.';
	if (other === 'web archive') return 'Web archives (.mht) cannot be read. Save the page as HTML or PDF.';
	if (ascii.slice(60, 68) === 'BOOKMOBI')
		return 'Kindle books (.mobi, .azw) cannot be read. Convert the book to EPUB or PDF.';
	if (!ascii.startsWith('PK')) return undefined;
	const archive = ARCHIVES.find(([extension]) => extension.test(name));
	if (archive !== undefined) return archive[1];
	if (ascii.includes('application/vnd.oasis.opendocument')) {
		return 'OpenDocument files other than texts (.odt), spreadsheets (.ods) and presentations (.odp) cannot be read. Save the file as PDF.';
	}
	return undefined;
}
