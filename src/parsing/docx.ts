import { AppError } from '../base/index.ts';
import { type ExtractedDocument, languageOf } from './blocks.ts';
import { readBody } from './docx-body.ts';
import { readFootnotes } from './docx-notes.ts';
import { Numbering } from './docx-numbering.ts';
import { Styles } from './docx-styles.ts';
import { type OfficeKind, openPackage, propertiesOf, relationshipsOf } from './ooxml-package.ts';
import type { Parts } from './zip-archive.ts';

const KIND: OfficeKind = {
	name: 'Word document',
	oldFormat: 'Old Word documents (.doc) cannot be read. Save the document as .docx or PDF.',
};

/**
 * Reads a Word document (Office Open XML, both editions).
 * @throws AppError `unreadable_file` or `resource_limit` with a sentence that says what is wrong with it
 */
export function parseDocx(bytes: Uint8Array): ExtractedDocument {
	const parts = openPackage(bytes, KIND);
	const main = mainPartOf(parts);
	const body = parts.get(main);
	if (body === undefined) {
		throw new AppError('unsupported_file_type', 'This is not a Word document, although its name or type says so.');
	}
	const folder = main.slice(0, main.lastIndexOf('/') + 1);
	const notes = new Map<string, string>();
	readFootnotes(parts.get(`${folder}footnotes.xml`), 'footnote', notes);
	readFootnotes(parts.get(`${folder}endnotes.xml`), 'endnote', notes);
	const styles = new Styles(parts.get(`${folder}styles.xml`));
	const numbering = new Numbering(parts.get(`${folder}numbering.xml`));
	const { blocks, title } = readBody(body, { styles, numbering, notes });
	const core = propertiesOf(parts.get('docprops/core.xml'), KIND.name);
	return {
		format: 'docx',
		title: core.title || title,
		declared_language: languageOf(core.language),
		page_count: null,
		blocks,
	};
}

/** The package's relationships name the main part; it is not always word/document.xml. */
function mainPartOf(parts: Parts): string {
	let main = 'word/document.xml';
	for (const { type, target } of relationshipsOf(parts, '', KIND)) {
		if (type !== 'officeDocument') continue;
		if (target.startsWith('word/') || (parts.has(target) && !/^(?:xl|ppt|visio)\//.test(target))) main = target;
	}
	return main;
}
