import { Parser } from 'htmlparser2';
import { lexer, type Token, type Tokens } from 'marked';
import { LruCache } from '../base/index.ts';
import { type Block, type BodyBlock, type ExtractedDocument, stripInvisible, toSingleLine } from './blocks.ts';
import { htmlBlocks } from './html-blocks.ts';
import { parsePage } from './html-dom.ts';
import { isTooCostly } from './markdown-cost.ts';
import { parsePlainText } from './plain-text.ts';
import { rowText } from './table-blocks.ts';

/** Reads Markdown (CommonMark with tables) without its marks. The title is that of the front matter, or the first heading. */
export function parseMarkdown(text: string): ExtractedDocument {
	const { title, body } = frontMatterOf(text);
	const blocks = isTooCostly(body) ? null : structuredBlocks(body);
	// Read without structure, as plain text.
	if (blocks === null) return { ...parsePlainText(body), format: 'md', title };
	const first = blocks.find((block) => block.kind === 'heading');
	const heading = first?.kind === 'heading' && first.level === 1 ? first.text : null;
	return { format: 'md', title: title ?? heading, declared_language: null, page_count: null, blocks };
}

/** The blocks of a text; null if they are nested too deep for the lexer. */
function structuredBlocks(text: string): Block[] | null {
	try {
		const blocks: Block[] = [];
		for (const token of lexer(text)) addBlocks(blocks, token, 'paragraph');
		return blocks;
	} catch (error) {
		// The lexer recurses for each level of emphasis, links, lists and quotes.
		if (error instanceof RangeError) return null;
		throw error;
	}
}

/** The maximum length of front matter in lines. */
const FRONT_MATTER_LINES = 200;

/** The YAML or TOML that many site generators put before the text; only its title is read. */
function frontMatterOf(text: string): { title: string | null; body: string } {
	const none = { title: null, body: text };
	const lines = text.split('\n', FRONT_MATTER_LINES);
	const open = lines[0]?.trimEnd() ?? '';
	if (open !== '---' && open !== '+++') return none;
	const close = lines.findIndex((line, index) => index > 0 && (line.trimEnd() === open || line.trimEnd() === '...'));
	const fields = lines.slice(1, close);
	// Two horizontal rules with a heading between them look the same, except for the lines between them.
	if (close < 2 || !fields.every((line) => /^(?:\s|[#\-\]}]|["'\w][^:=]*[:=]|\[|$)/.test(line))) return none;
	const value = fields.flatMap((line) => /^title\s*[:=]\s*(.+)$/i.exec(line)?.[1]?.trim() ?? [])[0] ?? '';
	const quoted = /^(["'])(.*)\1$/.exec(value)?.[2];
	const skipped = lines.slice(0, close + 1).reduce((sum, line) => sum + line.length + 1, 0);
	return { title: toSingleLine(quoted ?? value) || null, body: text.slice(skipped) };
}

function addBlocks(blocks: Block[], token: Token, kind: 'paragraph' | 'quote'): void {
	switch (token.type) {
		case 'heading':
			push(blocks, {
				kind: 'heading',
				level: (token as Tokens.Heading).depth,
				text: toSingleLine(inlineText(token)),
				page: null,
			});
			break;
		case 'code':
			push(blocks, { kind: 'code', text: stripInvisible((token as Tokens.Code).text), page: null });
			break;
		case 'blockquote':
			for (const inner of (token as Tokens.Blockquote).tokens) addBlocks(blocks, inner, 'quote');
			break;
		case 'list':
			addList(blocks, token as Tokens.List);
			break;
		case 'table':
			addTable(blocks, token as Tokens.Table);
			break;
		case 'html':
			for (const block of htmlBlocks(parsePage((token as Tokens.HTML).text).body, false)) blocks.push(block);
			break;
		case 'paragraph':
		case 'text':
			push(blocks, { kind, text: normaliseSpace(inlineText(token)), page: null });
			break;
	}
}

/** An item's first paragraph with its number or bullet, followed by the rest of the item. */
function addList(blocks: Block[], list: Tokens.List): void {
	const from = typeof list.start === 'number' ? list.start : 1;
	for (const [index, item] of list.items.entries()) {
		const mark = list.ordered ? `${from + index}. ` : '- ';
		const ownIndex = item.tokens.findIndex((token) => token.type === 'text' || token.type === 'paragraph');
		const head = ownIndex === -1 ? undefined : item.tokens[ownIndex];
		if (head !== undefined) push(blocks, { kind: 'item', text: mark + normaliseSpace(inlineText(head)), page: null });
		for (const [at, inner] of item.tokens.entries()) if (at !== ownIndex) addBlocks(blocks, inner, 'paragraph');
	}
}

function addTable(blocks: Block[], table: Tokens.Table): void {
	const textsOf = (cells: Tokens.TableCell[]) => rowText(cells.map((cell) => toSingleLine(inlineText(cell))));
	push(blocks, { kind: 'row', text: textsOf(table.header), page: null, table: { header: true } });
	for (const row of table.rows) push(blocks, { kind: 'row', text: textsOf(row), page: null });
}

function push(blocks: Block[], block: Block | BodyBlock): void {
	if (block.text.trim() !== '') blocks.push(block);
}

/** The text without inline marks: the words of links and pictures, the content of code. */
function inlineText(token: Token | Tokens.TableCell): string {
	if (!('type' in token)) return token.tokens.map(inlineText).join('');
	if (token.type === 'br') return '\n';
	if (token.type === 'html') return /^<br\b/i.test(token.raw) ? '\n' : '';
	if (token.type === 'checkbox') return '';
	if ('tokens' in token && token.tokens !== undefined && token.tokens.length > 0)
		return token.tokens.map(inlineText).join('');
	const text = 'text' in token && typeof token.text === 'string' ? token.text.replace(/\n/g, ' ') : '';
	return token.type === 'codespan' ? text : withoutEntities(text);
}

/** Hard line breaks stay (CommonMark 6.7); soft ones were spaces already. */
function normaliseSpace(text: string): string {
	return stripInvisible(text)
		.replace(/[^\S\n]+/gu, ' ')
		.replace(/ ?\n ?/g, '\n')
		.trim();
}

const ENTITY = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/gi;
const entities = new LruCache<string, string>(500);

/** Character references as the characters they stand for (CommonMark 2.5). */
function withoutEntities(text: string): string {
	return text.replace(ENTITY, (entity) => {
		let character = entities.get(entity);
		if (character === undefined) {
			character = decodeEntity(entity);
			entities.set(entity, character);
		}
		return character;
	});
}

function decodeEntity(entity: string): string {
	let text = '';
	const parser = new Parser({ ontext: (piece) => (text += piece) }, { decodeEntities: true });
	parser.end(entity);
	return text;
}
