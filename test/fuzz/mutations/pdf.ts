import { deflateSync, inflateSync } from 'node:zlib';
import fc from 'fast-check';
import { type ByteEdit, byteEdit, editBytes } from './bytes.ts';

/** A change of a PDF, as plain data. References, names and streams are numbers, taken modulo their count. */
export type PdfEdit =
	/** A reference to another object: cycles of pages, fonts that are pictures. */
	| { pdf: 'reference'; which: number; to: number }
	| { pdf: 'name'; which: number; to: number }
	| { pdf: 'stream'; which: number; changes: ByteEdit[] }
	| { pdf: 'exchange'; which: number; other: number };

export const pdfEdit: fc.Arbitrary<PdfEdit> = fc.oneof(
	fc.record({ pdf: fc.constant('reference' as const), which: fc.nat(5_000), to: fc.nat(200) }),
	fc.record({ pdf: fc.constant('name' as const), which: fc.nat(5_000), to: fc.nat(5_000) }),
	{
		weight: 3,
		arbitrary: fc.record({
			pdf: fc.constant('stream' as const),
			which: fc.nat(200),
			changes: fc.array(byteEdit, { minLength: 1, maxLength: 4 }),
		}),
	},
	fc.record({ pdf: fc.constant('exchange' as const), which: fc.nat(200), other: fc.nat(200) }),
);

const REFERENCE = /\b\d{1,6} 0 R\b/g;
const NAME = /\/[A-Za-z][A-Za-z0-9]{0,30}/g;
const OBJECT = /\bobj\b(?:(?!\bendobj\b)[\s\S])*/g;
const STREAM = /stream\r?\n((?:(?!endstream)[\s\S])*)endstream/g;

/** The PDF after a change. What does not occur in it does not change. */
export function editPdf(bytes: Buffer, change: PdfEdit): Buffer {
	const text = bytes.toString('latin1');
	switch (change.pdf) {
		case 'reference':
			return replaceMatch(text, REFERENCE, change.which, () => `${change.to} 0 R`);
		case 'name': {
			const names = text.match(NAME) ?? [];
			return replaceMatch(text, NAME, change.which, () => names[change.to % names.length] as string);
		}
		case 'stream':
			return replaceMatch(text, STREAM, change.which, ([all = '', content = '']) =>
				all.replace(content, () => editStream(content, change.changes)),
			);
		case 'exchange': {
			const objects = text.match(OBJECT) ?? [];
			return replaceMatch(text, OBJECT, change.which, () => objects[change.other % objects.length] as string);
		}
	}
}

/** Changes the content of a stream, unpacked if it is deflated. */
function editStream(content: string, changes: readonly ByteEdit[]): string {
	const edit = (bytes: Buffer) => changes.reduce<Buffer>(editBytes, bytes);
	const bytes = Buffer.from(content, 'latin1');
	try {
		return deflateSync(edit(inflateSync(bytes, { maxOutputLength: 4 * 1024 * 1024 }))).toString('latin1');
	} catch {
		return edit(bytes).toString('latin1');
	}
}

/** Replaces one of the matches. */
function replaceMatch(
	text: string,
	pattern: RegExp,
	which: number,
	replacement: (match: RegExpMatchArray) => string,
): Buffer {
	const matches = [...text.matchAll(pattern)];
	const match = matches[which % Math.max(1, matches.length)];
	if (match === undefined) return Buffer.from(text, 'latin1');
	const { index } = match;
	return Buffer.from(text.slice(0, index) + replacement(match) + text.slice(index + match[0].length), 'latin1');
}
