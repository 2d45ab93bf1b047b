import { Readability } from '@mozilla/readability';
import { parseUrl } from '../base/index.ts';
import { type Block, type DocumentSource, type ExtractedDocument, languageOf, toSingleLine } from './blocks.ts';
import { htmlBlocks } from './html-blocks.ts';
import { type DomDocument, type DomElement, type DomNode, isElement, type NodeBudget, parsePage } from './html-dom.ts';
import { hasStructures, structuresOf } from './html-structures.ts';
import { tidyPage } from './html-tidy.ts';
import { TextBudget } from './limits.ts';

/** Readability's time is superlinear in the size of a page and cubic in its depth; larger pages are read as a whole. */
const MAX_ELEMENTS = 50_000;
const MAX_DEPTH = 150;
/** Characters times depth: Readability reads the text of an element again for each element around it. A page with 1 MB of text has 20 million. */
const MAX_TEXT_STEPS = 40_000_000;

/** Below this share of the content that the page itself marks, Readability has found only a part of it. */
const MIN_SHARE = 0.5;

/** Reads a web page: its main content if that can be separated from the rest, with title and language. */
export function parseHtml(html: string, source: DocumentSource): ExtractedDocument {
	const document = parsePage(html);
	const language = languageOf(document.documentElement.getAttribute('lang'));
	const title = titleOf(document);
	tidyPage(document);
	const marked = markedContent(document);
	const content = marked ?? document.body;
	const wholePage = htmlBlocks(content, true);
	const isSmall = isOrdinary(document);
	const structures = isSmall ? structuresOf(content) : [];
	const blocks = isSmall ? readabilityBlocks(document, source) : [];
	const isEnough =
		textLength(blocks) > 0 &&
		(marked === null || textLength(blocks) >= MIN_SHARE * textLength(wholePage)) &&
		hasStructures(blocks, structures);
	const chosen = isEnough ? blocks : wholePage;
	new TextBudget().spendBlocks(chosen);
	return {
		format: 'html',
		title,
		declared_language: language,
		page_count: null,
		blocks: chosen,
	};
}

/**
 * The blocks of a page that is content as a whole: a chapter of a book, a mail.
 * @param prepare changes the page before it is read
 */
export function contentBlocks(
	html: string,
	budget?: NodeBudget,
	prepare: (document: DomDocument) => void = () => {},
): Block[] {
	const document = parsePage(html, budget);
	prepare(document);
	tidyPage(document);
	return htmlBlocks(document.body, false);
}

/** The one element that the author marked as the page's content. */
function markedContent(document: DomDocument): DomElement | null {
	for (const selector of ['main', '[role=main]', 'article']) {
		const found = document.querySelectorAll(selector);
		if (found.length === 1) return found[0] ?? null;
	}
	return null;
}

function isOrdinary(document: DomDocument): boolean {
	let elements = 0;
	let steps = 0;
	let level: DomElement[] = [document.documentElement];
	for (let depth = 0; level.length > 0; depth++) {
		elements += level.length;
		const next: DomElement[] = [];
		for (const element of level) {
			for (const child of element.childNodes) {
				if (isElement(child)) next.push(child);
				else steps += (child.textContent?.length ?? 0) * depth;
			}
		}
		if (depth > MAX_DEPTH || elements > MAX_ELEMENTS || steps > MAX_TEXT_STEPS) return false;
		level = next;
	}
	return true;
}

/** Readability modifies the document: read everything else before. */
function readabilityBlocks(document: DomDocument, source: DocumentSource): Block[] {
	try {
		const reader = new Readability<DomNode>(pageOf(document, source), {
			serializer: (node) => node as unknown as DomNode,
		});
		const content = reader.parse()?.content;
		return content ? htmlBlocks(content, false) : [];
	} catch {
		// It fails on some unusual markup; then the page is read as a whole.
		return [];
	}
}

/** Readability resolves links against the document's address and fails on an invalid one. */
function pageOf(document: DomDocument, source: DocumentSource): ConstructorParameters<typeof Readability>[0] {
	const address = source.url !== null && parseUrl(source.url) ? source.url : 'https://localhost/';
	return Object.defineProperties(document, {
		baseURI: { value: address, configurable: true },
		documentURI: { value: address, configurable: true },
	});
}

/** The page's title, without the site name after it if the page itself separates the two. */
function titleOf(document: DomDocument): string | null {
	const title = toSingleLine(document.querySelector('title')?.textContent ?? '');
	const ogTitle = toSingleLine(document.querySelector('meta[property="og:title"]')?.getAttribute('content') ?? '');
	const heading = toSingleLine(document.querySelector('h1')?.textContent ?? '');
	const shorter = [ogTitle, heading].find((name) => name !== '' && title.startsWith(name));
	return shorter || title || ogTitle || heading || null;
}

function textLength(blocks: Block[]): number {
	return blocks.reduce((sum, block) => sum + block.text.length, 0);
}
