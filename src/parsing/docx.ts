import { AppError } from '../base/index.ts';
import { type ExtractedDocument, languageOf, toSingleLine } from './blocks.ts';
import { openPackage, type Parts } from './docx-archive.ts';
import { readBody, readNotes } from './docx-body.ts';
import { Styles } from './docx-styles.ts';
import { readXml } from './docx-xml.ts';

/**
 * Reads a Word document (Office Open XML, both editions).
 * @throws AppError `unreadable_file` or `resource_limit` with a sentence that says what is wrong with it
 */
export function parseDocx(bytes: Uint8Array): ExtractedDocument {
	requireDocx(bytes);
	const parts = openPackage(bytes);
	const main = mainPartOf(parts);
	const body = parts.get(main);
	if (body === undefined) {
		throw new AppError(
			'unsupported_file_type',
			'This is not a Word document. Send a PDF, DOCX, XLSX, HTML, CSV, MD or TXT file.',
		);
	}
	const folder = main.slice(0, main.lastIndexOf('/') + 1);
	const notes = new Map<string, string>();
	readNotes(parts.get(`${folder}footnotes.xml`), 'footnote', notes);
	readNotes(parts.get(`${folder}endnotes.xml`), 'endnote', notes);
	const styles = parts.get(`${folder}styles.xml`);
	const { blocks, title } = readBody(body, new Styles(styles), notes);
	const core = corePropertiesOf(parts.get('docprops/core.xml'));
	return {
		format: 'docx',
		title: core.title || title,
		declared_language: languageOf(core.language),
		page_count: null,
		blocks,
	};
}

/** Files of many formats have names that end in .docx. */
function requireDocx(bytes: Uint8Array): void {
	const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	if (view.subarray(0, 2).toString('latin1') === 'PK') return;
	if (view.subarray(0, 4).toString('hex') !== 'd0cf11e0') {
		throw new AppError('unreadable_file', 'This is not a Word document, although its name or type says so.');
	}
	// [MS-OFFCRYPTO]: a document with a password is kept in a compound file with this stream.
	if (view.includes(Buffer.from('EncryptedPackage', 'utf16le'))) {
		throw new AppError(
			'unreadable_file',
			'The Word document is protected with a password. Remove it and upload again.',
		);
	}
	throw new AppError('unsupported_file_type', 'Old Word documents (.doc) cannot be read. Save it as .docx or PDF.');
}

/** The package's relationships name the main part; it is not always word/document.xml. */
function mainPartOf(parts: Parts): string {
	let main = 'word/document.xml';
	const relations = parts.get('_rels/.rels');
	if (relations === undefined) return main;
	readXml(relations, {
		open: (element) => {
			if (element.name !== 'rel:Relationship' || !element.attribute('Type')?.endsWith('/officeDocument')) return;
			const target = element.attribute('Target')?.replace(/^\//, '').toLowerCase();
			if (target?.startsWith('word/')) main = target;
			else if (target !== undefined && parts.has(target) && !/^(?:xl|ppt|visio)\//.test(target)) main = target;
		},
		close: () => {},
		text: () => {},
	});
	return main;
}

/** Title and language from the package's core properties. */
function corePropertiesOf(part: Uint8Array | undefined): { title: string; language: string } {
	const found = { title: '', language: '' };
	if (part === undefined) return found;
	let field: 'title' | 'language' | null = null;
	readXml(part, {
		open: ({ name }) => {
			field = name === 'dc:title' ? 'title' : name === 'dc:language' ? 'language' : null;
		},
		close: () => {
			field = null;
		},
		text: (text) => {
			if (field !== null) found[field] += text;
		},
	});
	return { title: toSingleLine(found.title), language: found.language };
}
