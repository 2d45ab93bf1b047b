import { AppError } from '../base/index.ts';
import { type Block, type ExtractedDocument, languageOf, toSingleLine } from './blocks.ts';
import { decodeText } from './charset.ts';
import { nameChapters } from './epub-chapters.ts';
import { contentBlocks } from './html.ts';
import type { NodeBudget } from './html-dom.ts';
import { parsePage } from './html-dom.ts';
import { resourceLimit, TextBudget } from './limits.ts';
import { type Element, readXml } from './xml-reader.ts';
import { Parts, resolveEntryPath } from './zip-archive.ts';

const KIND = 'EPUB book';
const MAX_CHAPTERS = 5000;
const MAX_NAME_CHARACTERS = 500;
/** Elements, pieces of text and attributes of all chapters. A long novel has 100,000. */
const MAX_NODES = 3_000_000;
/** Names of chapters that begin within a file. */
const MAX_NAMED_PLACES = 20_000;

/** What the package document of a book says (EPUB 3.3, 5). */
interface Book {
	title: string;
	language: string;
	/** The files of the chapters in reading order. */
	chapters: string[];
	/** The files that name the chapters: the navigation of EPUB 3, or the NCX of EPUB 2. */
	navigation: string | null;
	ncx: string | null;
}

/** The names of chapters in the table of contents, by their files and by the places in a file where they begin. */
interface ChapterNames {
	files: Map<string, string>;
	places: Map<string, Map<string, string>>;
}

/**
 * Reads an EPUB book: its chapters in reading order. A chapter without a heading has its name from the table of contents, also if
 * several chapters stand in one file.
 * @throws AppError `unreadable_file` or `resource_limit` with a sentence that says what is wrong with it
 */
export function parseEpub(bytes: Uint8Array): ExtractedDocument {
	const parts = new Parts(bytes, KIND);
	const book = readPackage(parts);
	if (book.chapters.length > MAX_CHAPTERS) throw resourceLimit(`The ${KIND} has too many chapters. Split it.`);
	const names = chapterNames(parts, book);
	const budget = new TextBudget();
	const nodes: NodeBudget = { nodes: MAX_NODES };
	const blocks: Block[] = [];
	for (const chapter of book.chapters) {
		const text = textOf(parts, chapter);
		if (text === null || chapter === book.navigation) continue;
		const name = names.files.get(chapter);
		const found = contentBlocks(text, nodes, (page) => nameChapters(page, name, names.places.get(chapter)));
		if (name !== undefined && found.length > 0 && found[0]?.kind !== 'heading')
			found.unshift({ kind: 'heading', level: 1, text: name, page: null });
		budget.spendBlocks(found);
		for (const block of found) blocks.push(block);
	}
	return {
		format: 'epub',
		title: toSingleLine(book.title) || null,
		declared_language: languageOf(book.language),
		page_count: null,
		blocks,
	};
}

function textOf(parts: Parts, name: string): string | null {
	const part = parts.get(name);
	return part === undefined ? null : (decodeText(part)?.replace(EMPTY_ELEMENT, '<$1$2></$1>') ?? null);
}

/** An empty element of XML. HTML ignores the slash and would read what follows as its content. */
const EMPTY_ELEMENT =
	/<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)[\s/])([a-z][\w:-]{0,50})((?:\s[^<>]{0,2000})?)\/>/gi;

function readPackage(parts: Parts): Book {
	const name = packageNameOf(parts);
	const part = parts.get(name);
	if (part === undefined) {
		throw new AppError('unreadable_file', `The ${KIND} is damaged: the list of its chapters is missing.`);
	}
	if (isEncrypted(parts)) {
		throw new AppError('unreadable_file', `The ${KIND} is protected (DRM), so its text cannot be read.`);
	}
	const folder = name.slice(0, name.lastIndexOf('/') + 1);
	const book: Book = { title: '', language: '', chapters: [], navigation: null, ncx: null };
	const items = new Map<string, string>();
	const chapters = new Set<string>();
	let field: 'title' | 'language' | null = null;
	const handlers = {
		open: (element: Element) => {
			field =
				element.name === 'dc:title' && book.title === ''
					? 'title'
					: element.name === 'dc:language' && book.language === ''
						? 'language'
						: null;
			if (element.name === 'item') {
				const target = fileOf(folder, element.attribute('href') ?? '');
				items.set(element.attribute('id') ?? '', target);
				if (element.attribute('properties')?.split(/\s+/).includes('nav')) book.navigation = target;
				if (element.attribute('media-type') === 'application/x-dtbncx+xml') book.ncx = target;
			} else if (element.name === 'itemref') {
				const target = items.get(element.attribute('idref') ?? '');
				if (target !== undefined) chapters.add(target);
			}
		},
		close: () => {
			field = null;
		},
		text: (text: string) => {
			if (field !== null) book[field] += text;
		},
	};
	readXml(part, handlers, KIND);
	return { ...book, chapters: [...chapters] };
}

/** The package document, which the container names (EPUB 3.3, 4.2.6.3.1). */
function packageNameOf(parts: Parts): string {
	let name: string | null = null;
	const container = parts.get('meta-inf/container.xml');
	if (container !== undefined) {
		const handlers = {
			open: (element: Element) => {
				if (element.name === 'rootfile') name ??= element.attribute('full-path')?.toLowerCase() ?? null;
			},
			close: () => {},
			text: () => {},
		};
		readXml(container, handlers, KIND);
	}
	return name ?? [...parts.names].find((part) => part.endsWith('.opf')) ?? '';
}

/** Whether the chapters are encrypted. Fonts often are, by an algorithm that only obscures them. */
function isEncrypted(parts: Parts): boolean {
	const encryption = parts.get('meta-inf/encryption.xml');
	let found = false;
	if (encryption === undefined) return found;
	const handlers = {
		open: (element: Element) => {
			if (element.name === 'CipherReference') found ||= /\.(?:xhtml|html|htm)$/i.test(element.attribute('URI') ?? '');
		},
		close: () => {},
		text: () => {},
	};
	readXml(encryption, handlers, KIND);
	return found;
}

/** The file of a link, without its fragment. */
function fileOf(folder: string, href: string): string {
	const path = href.split('#', 1)[0] ?? '';
	let decoded = path;
	try {
		decoded = decodeURIComponent(path);
	} catch {
		// A percent sign in a file name.
	}
	return resolveEntryPath(folder, decoded.toLowerCase());
}

/** The first name of a file is that of the whole, unless it names a place in it. */
function chapterNames(parts: Parts, { navigation, ncx }: Book): ChapterNames {
	const names: ChapterNames = { files: new Map(), places: new Map() };
	let placeCount = 0;
	const add = (source: string, href: string, text: string) => {
		const file = fileOf(source.slice(0, source.lastIndexOf('/') + 1), href);
		const place = href.split('#', 2)[1] ?? '';
		const isNamed = names.files.has(file);
		if (isNamed && (place === '' || placeCount >= MAX_NAMED_PLACES)) return;
		const name = toSingleLine(text.slice(0, MAX_NAME_CHARACTERS));
		if (name === '') return;
		if (!isNamed) names.files.set(file, name);
		if (place === '') return;
		placeCount++;
		const places = names.places.get(file) ?? new Map<string, string>();
		if (!places.has(place)) places.set(place, name);
		names.places.set(file, places);
	};
	const page = navigation === null ? null : textOf(parts, navigation);
	if (navigation !== null && page !== null) {
		for (const link of parsePage(page).querySelectorAll('nav a')) {
			// A link within a link is a mistake; the text of each is read once.
			if (link.querySelector('a') === null) add(navigation, link.getAttribute('href') ?? '', link.textContent ?? '');
		}
	}
	const tableOfContents = ncx === null ? undefined : parts.get(ncx);
	if (ncx === null || tableOfContents === undefined || names.files.size > 0) return names;
	let label = '';
	let inLabel = false;
	const handlers = {
		open: (element: Element) => {
			if (element.name === 'navLabel') label = '';
			inLabel = element.name === 'text';
			if (element.name !== 'content') return;
			add(ncx, element.attribute('src') ?? '', label);
			// It names nothing else: neither a page without a label nor a second target.
			label = '';
		},
		close: () => {
			inLabel = false;
		},
		text: (text: string) => {
			if (inLabel) label += text.slice(0, MAX_NAME_CHARACTERS - label.length);
		},
	};
	readXml(tableOfContents, handlers, KIND);
	return names;
}
