import { stripInvisible } from './blocks.ts';

/** One line of a page in the page's own reading direction. */
export interface Line {
	text: string;
	/** The page, from 1. */
	page: number;
	/** Its start and end along the writing direction, in points. */
	left: number;
	right: number;
	/** The position of its base line; it grows upwards. */
	baseline: number;
	/** The font's size in points. */
	size: number;
	/** Whether it is upright on the page; a rotated line is a label or watermark. */
	isUpright: boolean;
	/** The font of all its text, as PDF.js names it; null if there are several, or it is not known. */
	font: string | null;
	/** It is not joined with other lines: it has the value of a form. */
	standsAlone?: boolean;
	/** Its parts between gaps, in the order in which the file draws them. Only tables need them. */
	pieces: LinePiece[];
}

/** A part of a line without gaps. */
export interface LinePiece {
	text: string;
	left: number;
	right: number;
}

/** A run of text as PDF.js gives it (its TextItem). */
export interface TextRun {
	str: string;
	transform: number[];
	width: number;
	height: number;
	fontName?: string;
	hasEOL: boolean;
}

/** Joins the runs of a page into lines, in the order in which the file draws them. */
export class LineWriter {
	readonly #page: number;
	readonly #onLine: (line: Line) => void;
	#line: Line | null = null;
	#last: LinePosition | null = null;

	/** @param page from 1 */
	constructor(page: number, onLine: (line: Line) => void) {
		this.#page = page;
		this.#onLine = onLine;
	}

	add(run: TextRun): void {
		if (run.str.trim() !== '') this.#draw(run.str, linePositionOf(run), run.fontName ?? null);
		else if (this.#line !== null) {
			this.#line.text += run.str;
			const piece = this.#line.pieces.at(-1);
			if (piece !== undefined) piece.text += run.str;
		}
		if (run.hasEOL) this.end();
	}

	/** Ends the line that is open. */
	end(): void {
		const line = this.#line;
		this.#line = null;
		if (line === null) return;
		line.text = visibleText(line.text);
		for (const piece of line.pieces) piece.text = visibleText(piece.text);
		if (line.text !== '') this.#onLine(line);
	}

	#draw(text: string, at: LinePosition, font: string | null): void {
		if (this.#line !== null && !isOnSameLine(this.#line, at)) this.end();
		const line = this.#line;
		const { left, right } = at;
		if (line === null) this.#line = { text, page: this.#page, ...at, font, pieces: [{ text, left, right }] };
		else {
			const piece = line.pieces.at(-1);
			if (this.#last !== null && hasGap(this.#last, at)) {
				line.text += ' ';
				line.pieces.push({ text, left, right });
			} else if (piece !== undefined) {
				piece.text += text;
				piece.left = Math.min(piece.left, left);
				piece.right = Math.max(piece.right, right);
			}
			line.text += text;
			if (line.font !== font) line.font = null;
			line.left = Math.min(line.left, at.left);
			line.right = Math.max(line.right, at.right);
			// The line has its largest font size: a smaller one is a superscript or the number of a note.
			line.size = Math.max(line.size, at.size);
		}
		this.#last = at;
	}
}

/** Text in the usual forms of its characters, on one line. */
export function visibleText(text: string): string {
	return stripInvisible(text.normalize('NFKC')).replace(/\s+/gu, ' ').trim();
}

type LinePosition = Pick<Line, 'left' | 'right' | 'baseline' | 'size' | 'isUpright'>;

/** Rotates the coordinates of text that runs up, down or backwards, so that it runs to the right. */
function linePositionOf(run: TextRun): LinePosition {
	const [a = 1, b = 0, c = 0, d = 1, x = 0, y = 0] = run.transform;
	const size = Math.hypot(c, d) || run.height || 1;
	const isUpright = Math.abs(a) >= Math.abs(b);
	const sign = (isUpright ? a : b) < 0 ? -1 : 1;
	const along = sign * (isUpright ? x : y);
	const baseline = isUpright ? sign * y : -sign * x;
	const width = isUpright && Math.abs(run.width) > 0 ? run.width : Math.max(run.width, run.height);
	return { left: along, right: along + width, baseline, size, isUpright };
}

function isOnSameLine(line: Line, next: LinePosition): boolean {
	return (
		line.isUpright === next.isUpright && Math.abs(line.baseline - next.baseline) < 0.6 * Math.max(line.size, next.size)
	);
}

/** PDF.js adds a space at a forward gap, but not between runs that jump to another position of the line. */
function hasGap(last: LinePosition, next: LinePosition): boolean {
	const gap = Math.max(next.left - last.right, last.left - next.right);
	return gap > 0.3 * next.size;
}
