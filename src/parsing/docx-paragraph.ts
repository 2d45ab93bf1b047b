import { type Block, stripInvisible } from './blocks.ts';

/** A paragraph of a Word document while its elements are read. */
export interface Paragraph {
	text: string;
	style: string | null;
	outline: number | null;
	/** The list of its own numbering, empty for none; null: its style decides. */
	listId: string | null;
	level: number | null;
	/** Whether its end is part of the document. Without it, and without text, it takes no number. */
	hasMark: boolean;
	/** The notes that it refers to. They follow it. */
	notes: string[];
	/** The blocks of its text boxes. */
	textBoxes: Block[];
}

/** A paragraph at its beginning. */
export function newParagraph(): Paragraph {
	return { text: '', style: null, outline: null, listId: null, level: null, hasMark: true, notes: [], textBoxes: [] };
}

/** The text of a paragraph: runs of spaces are one, line breaks stay. */
export function normaliseSpace(text: string): string {
	return stripInvisible(text)
		.replace(/[^\S\n]+/gu, ' ')
		.replace(/ ?\n ?/g, '\n')
		.trim();
}
