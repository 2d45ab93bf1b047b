import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from 'saxes';
import { AppError } from '../base/index.ts';
import { resourceLimit } from './limits.ts';

/** An element with a canonical name such as `w:p`, independent of the file's prefixes and edition of the standard. */
export interface Element {
	name: string;
	/** The value of an attribute, by its local name (`val`), or by its canonical name where two have the same local one (`r:id`). */
	attribute(name: string): string | null;
}

/** The events of a part. */
export interface XmlHandlers {
	open(element: Element): void;
	close(name: string): void;
	text(text: string): void;
}

/** Namespaces with their usual prefixes: Office Open XML, transitional and strict edition (ISO/IEC 29500), and OpenDocument (ISO/IEC 26300). */
const PREFIXES: Record<string, string> = {
	'http://schemas.openxmlformats.org/wordprocessingml/2006/main': 'w:',
	'http://purl.oclc.org/ooxml/wordprocessingml/main': 'w:',
	'http://schemas.openxmlformats.org/officeDocument/2006/math': 'm:',
	'http://purl.oclc.org/ooxml/officeDocument/math': 'm:',
	'http://schemas.openxmlformats.org/drawingml/2006/main': 'a:',
	'http://purl.oclc.org/ooxml/drawingml/main': 'a:',
	'http://schemas.openxmlformats.org/presentationml/2006/main': 'p:',
	'http://purl.oclc.org/ooxml/presentationml/main': 'p:',
	'http://schemas.openxmlformats.org/officeDocument/2006/relationships': 'r:',
	'http://purl.oclc.org/ooxml/officeDocument/relationships': 'r:',
	'http://schemas.openxmlformats.org/markup-compatibility/2006': 'mc:',
	'http://purl.org/dc/elements/1.1/': 'dc:',
	'http://schemas.openxmlformats.org/package/2006/relationships': 'rel:',
	'urn:oasis:names:tc:opendocument:xmlns:office:1.0': 'office:',
	'urn:oasis:names:tc:opendocument:xmlns:style:1.0': 'style:',
	'urn:oasis:names:tc:opendocument:xmlns:text:1.0': 'text:',
	'urn:oasis:names:tc:opendocument:xmlns:table:1.0': 'table:',
	'urn:oasis:names:tc:opendocument:xmlns:drawing:1.0': 'draw:',
	'urn:oasis:names:tc:opendocument:xmlns:presentation:1.0': 'presentation:',
	'urn:oasis:names:tc:opendocument:xmlns:manifest:1.0': 'manifest:',
};

/** Parts are decoded and read in slices, so that a large one is never in memory twice. */
const SLICE_BYTES = 1024 * 1024;
const MAX_DEPTH = 2000;
/** Elements and attributes times depth: the parser searches all open elements for the namespace of each prefix. */
const MAX_STEPS = 10_000_000;
/** Elements above this depth are no steps. Ordinary parts have a depth of 10 to 40. */
const FREE_DEPTH = 128;
/** 10 MB of text in short runs have two million elements. */
const MAX_ELEMENTS = 5_000_000;
/** Word gives its outermost element 40. */
const MAX_ATTRIBUTES = 256;
/** Slices that one text, comment or tag may take, because the parser buffers it as a whole. */
const MAX_SLICES = 12;

/**
 * Reads a part from beginning to end.
 * @param kind what the file is, for the sentences of errors
 * @throws AppError `unreadable_file` if it is not well-formed, `resource_limit` if it has too much content
 */
export function readXml(bytes: Uint8Array, handlers: XmlHandlers, kind: string): void {
	const parser = new SaxesParser<{ xmlns: true }>({ xmlns: true });
	let depth = 0;
	let steps = 0;
	let elements = 0;
	let attributes = 0;
	/** Slices since the parser last completed a text, comment or tag. */
	let slices = 0;
	const resetSlices = () => {
		slices = 0;
	};
	parser.on('error', (error) => {
		throw new AppError('unreadable_file', `The ${kind} is damaged: one of its parts is not valid XML.`, {
			cause: error,
		});
	});
	parser.on('opentagstart', () => {
		slices = attributes = 0;
		if (++elements > MAX_ELEMENTS) throw resourceLimit(`The ${kind} consists of too many elements. Split it.`);
	});
	parser.on('attribute', () => {
		slices = 0;
		if (++attributes > MAX_ATTRIBUTES) {
			throw resourceLimit(`One element of the ${kind} has more than ${MAX_ATTRIBUTES} attributes.`);
		}
	});
	parser.on('comment', resetSlices);
	parser.on('processinginstruction', resetSlices);
	parser.on('opentag', (tag) => {
		if (++depth > FREE_DEPTH) steps += depth * (1 + attributes);
		if (depth > MAX_DEPTH || steps > MAX_STEPS) throw resourceLimit(`The ${kind} is nested too deeply to be read.`);
		handlers.open(new TagElement(tag));
	});
	parser.on('closetag', (tag) => {
		resetSlices();
		depth--;
		handlers.close(canonicalName(tag));
	});
	parser.on('text', (text) => handlers.text(text));
	parser.on('cdata', (text) => handlers.text(text));
	const decoder = new TextDecoder(encodingOf(bytes));
	for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
		if (++slices > MAX_SLICES) throw resourceLimit(`One piece of text in the ${kind} is larger than 10 MB.`);
		parser.write(decoder.decode(bytes.subarray(at, at + SLICE_BYTES), { stream: true }));
	}
	parser.close();
}

class TagElement implements Element {
	readonly name: string;
	readonly #tag: SaxesTagNS;

	constructor(tag: SaxesTagNS) {
		this.name = canonicalName(tag);
		this.#tag = tag;
	}

	attribute(name: string): string | null {
		for (const attribute of Object.values<SaxesAttributeNS>(this.#tag.attributes)) {
			if (attribute.local === name || canonicalName(attribute) === name) return attribute.value;
		}
		return null;
	}
}

function canonicalName({ uri, local }: { uri: string; local: string }): string {
	return (PREFIXES[uri] ?? '') + local;
}

/** XML without a byte order mark is UTF-8 in practice; UTF-16 without a mark has a zero byte beside its first `<`. */
function encodingOf(bytes: Uint8Array): string {
	const [a, b] = bytes;
	if ((a === 0xff && b === 0xfe) || (a === 0x3c && b === 0)) return 'utf-16le';
	if ((a === 0xfe && b === 0xff) || (a === 0 && b === 0x3c)) return 'utf-16be';
	return 'utf-8';
}
