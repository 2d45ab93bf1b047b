import { toSingleLine } from './blocks.ts';
import type { TextBudget } from './limits.ts';
import type { PdfDocument } from './pdf-document.ts';
import type { Line } from './pdf-lines.ts';
import type { Page } from './pdf-running-heads.ts';

const MAX_FIELDS = 5_000;
const MAX_VALUE_CHARACTERS = 10_000;
/** The largest distance of a box from its label, in points. */
const MAX_LABEL_DISTANCE = 200;

/** A field of a form, as PDF.js gives it (an annotation of the type Widget). */
interface Widget {
	subtype?: string;
	fieldType?: string;
	fieldName?: string;
	alternativeText?: string;
	fieldValue?: unknown;
	exportValue?: string;
	buttonValue?: string;
	checkBox?: boolean;
	radioButton?: boolean;
	hidden?: boolean;
	password?: boolean;
	rect: [left: number, bottom: number, right: number, top: number];
}

/**
 * Adds the values of a form's fields to the lines of their labels, in place. They are not part of the text of a page.
 * @throws AppError `resource_limit` if there is too much text
 */
export async function addFormValues(pdf: PdfDocument, pages: readonly Page[], budget: TextBudget): Promise<void> {
	if ((await pdf.getFieldObjects().catch(() => null)) === null) return;
	let count = 0;
	for (const page of pages) {
		const proxy = await pdf.getPage(page.number);
		const widgets = ((await proxy.getAnnotations().catch(() => [])) as Widget[]).filter(isFilled);
		const [, bottom = 0] = proxy.view;
		for (const widget of widgets) {
			if (++count > MAX_FIELDS) return;
			budget.spend(textOf(widget));
			addValue(page, widget, bottom);
		}
		proxy.cleanup();
	}
}

function isFilled(widget: Widget): boolean {
	if (widget.subtype !== 'Widget' || widget.hidden === true || widget.password === true) return false;
	return isBox(widget) ? isChecked(widget) : textOf(widget) !== '';
}

function isBox({ checkBox, radioButton }: Widget): boolean {
	return checkBox === true || radioButton === true;
}

function isChecked({ fieldValue, exportValue, buttonValue }: Widget): boolean {
	return (
		typeof fieldValue === 'string' && fieldValue !== 'Off' && fieldValue === (buttonValue ?? exportValue ?? fieldValue)
	);
}

/** The text of a text field, or what is chosen in a list. */
function textOf({ fieldType, fieldValue }: Widget): string {
	if (fieldType !== 'Tx' && fieldType !== 'Ch') return '';
	const values = Array.isArray(fieldValue) ? fieldValue : [fieldValue];
	const texts = values.filter((value) => typeof value === 'string');
	return toSingleLine(texts.join(', ').slice(0, MAX_VALUE_CHARACTERS));
}

function addValue({ number, lines }: Page, widget: Widget, pageBottom: number): void {
	const [left, bottom, right, top] = widget.rect;
	const middle = (bottom + top) / 2 - pageBottom;
	const besides = lines.filter(
		(line) => line.isUpright && Math.abs(line.baseline + 0.3 * line.size - middle) < 0.8 * line.size,
	);
	if (isBox(widget)) {
		const after = besides.filter((line) => line.left >= right - 2 && line.left - right < MAX_LABEL_DISTANCE);
		const [label] = after.sort((a, b) => a.left - b.left);
		if (label !== undefined) {
			prepend(label, '☒ ');
			return;
		}
	} else {
		const before = besides.filter((line) => line.left < left && line.right <= left + 5);
		const [label] = before.sort((a, b) => b.right - a.right);
		if (label !== undefined) {
			append(label, textOf(widget));
			return;
		}
	}
	const name = toSingleLine(widget.alternativeText || widget.fieldName || '');
	const value = isBox(widget) ? '☒' : textOf(widget);
	const text = name === '' ? value : `${name}: ${value}`;
	const position = { left, right, baseline: middle, size: 10, isUpright: true, font: null, standsAlone: true };
	lines.push({ text, page: number, ...position, pieces: [{ text, left, right }] });
}

function append(line: Line, value: string): void {
	const last = line.pieces.at(-1);
	line.standsAlone = true;
	line.text += ` ${value}`;
	if (last !== undefined) last.text += ` ${value}`;
}

function prepend(line: Line, mark: string): void {
	const [first] = line.pieces;
	line.standsAlone = true;
	line.text = mark + line.text;
	if (first !== undefined) first.text = mark + first.text;
}
