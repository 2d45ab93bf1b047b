import type { Block } from './blocks.ts';
import { htmlBlocks } from './html-blocks.ts';
import { type DomElement, isElement } from './html-dom.ts';
import { isDataTable } from './html-table.ts';
import { isBoilerplate, isInvisible, linkShareOf } from './html-visibility.ts';

/** A list of more links is navigation. */
const MAX_LINK_SHARE = 0.5;
/** Shorter lists are captions, buttons and tags. */
const MIN_CHARACTERS = 40;
/** Readability drops rows and items that look like advertisements. */
const MAX_LOST_SHARE = 0.2;
/** Searches in the text of a whole page. */
const MAX_SEARCHES = 1000;

/** The texts of each table, list and definition list in the content of a page. Lists of links are left out. */
export function structuresOf(content: DomElement): string[][] {
	const structures: string[][] = [];
	const stack: DomElement[] = [content];
	for (let element = stack.pop(); element !== undefined; element = stack.pop()) {
		if (element !== content && (isInvisible(element) || isBoilerplate(element))) continue;
		const { nodeName } = element;
		const isStructure = /^(?:UL|OL|DL)$/.test(nodeName) || (nodeName === 'TABLE' && isDataTable(element));
		if (!isStructure) {
			for (const child of element.childNodes) if (isElement(child)) stack.push(child);
		} else if (linkShareOf(element) <= MAX_LINK_SHARE) {
			const texts = htmlBlocks(element, true).map(lettersOf);
			if (texts.length > 1 && texts.join('').length >= MIN_CHARACTERS) structures.push(texts);
		}
	}
	return structures;
}

/** Whether the blocks have nearly all of each structure. */
export function hasStructures(blocks: readonly Block[], structures: readonly string[][]): boolean {
	const texts = blocks.map(lettersOf);
	const whole = new Set(texts);
	const joined = texts.join('');
	let searches = 0;
	// Readability may divide or join the lines of an item.
	const isFound = (text: string) => whole.has(text) || (++searches <= MAX_SEARCHES && joined.includes(text));
	return structures.every((parts) => {
		const lost = parts.filter((part) => !isFound(part)).length;
		return lost <= MAX_LOST_SHARE * parts.length;
	});
}

/** The letters and digits of a block. Readability changes line breaks and the numbers of lists. */
function lettersOf({ text }: Block): string {
	return text.replace(/^\d+\. /, '').replace(/[^\p{L}\p{N}]+/gu, '');
}
