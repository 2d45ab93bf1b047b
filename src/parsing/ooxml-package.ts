import { AppError } from '../base/index.ts';
import { toSingleLine } from './blocks.ts';
import { readXml } from './xml-reader.ts';
import { Parts, resolveEntryPath } from './zip-archive.ts';

/** A kind of Office Open XML documents, for the sentences of errors. */
export interface OfficeKind {
	/** "Word document" */
	name: string;
	/** What to do with a file of the format that Office had before 2007. */
	oldFormat: string;
}

/**
 * Opens an Office Open XML package (ISO/IEC 29500-2).
 * @throws AppError `unreadable_file`, `unsupported_file_type` or `resource_limit` with a sentence that says what is wrong with it
 */
export function openPackage(bytes: Uint8Array, kind: OfficeKind): Parts {
	requirePackage(bytes, kind);
	return new Parts(bytes, kind.name);
}

/** Files of many formats have names that end in .docx. */
function requirePackage(bytes: Uint8Array, { name, oldFormat }: OfficeKind): void {
	const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	if (view.subarray(0, 2).toString('latin1') === 'PK') return;
	if (view.subarray(0, 4).toString('hex') !== 'd0cf11e0') {
		throw new AppError('unreadable_file', `This is not a ${name}, although its name or type says so.`);
	}
	// [MS-OFFCRYPTO]: a document with a password is kept in a compound file with this stream.
	if (view.includes(Buffer.from('EncryptedPackage', 'utf16le'))) {
		throw new AppError(
			'unreadable_file',
			`The ${name} is protected with a password. Remove the password and upload it again.`,
		);
	}
	throw new AppError('unsupported_file_type', oldFormat);
}

/** A relationship of a part to another one. */
export interface Relationship {
	id: string;
	/** The last part of its type: `slide`, `notesSlide`, `officeDocument`. */
	type: string;
	/** The name of the other part in lower case, or the address of something outside of the package. */
	target: string;
}

/** The relationships of a part. @param part its name; empty for the package itself */
export function relationshipsOf(parts: Parts, part: string, kind: OfficeKind): Relationship[] {
	const folder = part.slice(0, part.lastIndexOf('/') + 1);
	const relations = parts.get(`${folder}_rels/${part.slice(folder.length)}.rels`);
	const found: Relationship[] = [];
	if (relations === undefined) return found;
	readXml(
		relations,
		{
			open: (element) => {
				if (element.name !== 'rel:Relationship') return;
				const target = element.attribute('Target')?.toLowerCase() ?? '';
				const type = element.attribute('Type') ?? '';
				found.push({
					id: element.attribute('Id') ?? '',
					type: type.slice(type.lastIndexOf('/') + 1),
					target: target.startsWith('/') ? target.slice(1) : resolveEntryPath(folder, target),
				});
			},
			close: () => {},
			text: () => {},
		},
		kind.name,
	);
	return found;
}

/** Title and language of a document, from the part with its Dublin Core properties. */
export function propertiesOf(part: Uint8Array | undefined, kind: string): { title: string; language: string } {
	const found = { title: '', language: '' };
	if (part === undefined) return found;
	let field: 'title' | 'language' | null = null;
	readXml(
		part,
		{
			open: ({ name }) => {
				field = name === 'dc:title' ? 'title' : name === 'dc:language' ? 'language' : null;
			},
			close: () => {
				field = null;
			},
			text: (text) => {
				if (field !== null) found[field] += text;
			},
		},
		kind,
	);
	return { title: toSingleLine(found.title), language: found.language };
}

/** Whether a switch is on (ISO/IEC 29500-1, 17.17.4). Without a value it is. */
export function isOn(value: string | null): boolean {
	return !/^(?:0|false|off)$/.test(value ?? '');
}
