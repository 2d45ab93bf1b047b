import type { TableSelection } from '../matching/candidate.ts';
import type { Cell, Unit } from '../reading/passage-reading.ts';
import { codeFence, escapeMarkdown, escapeMarkdownLine } from './markdown.ts';
import type { AnswerPart } from './select-parts.ts';

const MAX_CODE_LINES = 20;
/** A name above a pair that is longer is a sentence. */
const MAX_TOPIC_CHARACTERS = 80;

/** Renders the answer in Markdown. Each part ends with the number of its source. */
export function render(parts: readonly AnswerPart[]): string {
	return parts.map(renderPart).join('\n\n');
}

function renderPart(part: AnswerPart): string {
	const citation = `[${part.source.passage.index}]`;
	switch (part.kind) {
		case 'sentences':
			return `${escapeMarkdownLine(part.units.map(statementOf).join(' '))} ${citation}`;
		case 'cells':
			return `${renderCells(part.selection)} ${citation}`;
		case 'list': {
			const lead = part.lead === null ? '' : `${escapeMarkdownLine(part.lead.text)}\n\n`;
			return `${lead}${renderList(part.units)}${part.isCut ? ' …' : ''} ${citation}`;
		}
		case 'code': {
			const lead = part.lead === null ? '' : `${escapeMarkdownLine(part.lead.text)} `;
			return `${lead}${citation}\n\n${renderCode(part.unit)}`;
		}
	}
}

/** `Denver, Phone: (303) 555-0126`; a sentence stands for itself. */
function statementOf(unit: Unit): string {
	if (unit.label === '') return unit.text;
	const { topic, isQuestion, label, text } = unit;
	const isNamed = topic !== '' && topic.length <= MAX_TOPIC_CHARACTERS && !isQuestion && topic !== label;
	return `${isNamed ? `${topic}, ` : ''}${label}: ${text}`;
}

/** `Studio, billed yearly: £10.40`; a line for each row of a comparison. */
function renderCells({ table, rows, columns, isWholeRow }: TableSelection): string {
	const nameOf = (column: number) => table.header?.[column]?.text ?? '';
	const lines = rows.map((row) => {
		const cells = table.rows[row] as Cell[];
		const labels = [...new Set(cells.slice(0, table.labelColumns).map(({ text }) => text))].filter(
			(text) => text !== '',
		);
		const name = labels.join(', ');
		const values = columns.map((column) => ({ name: nameOf(column), text: cells[column]?.text ?? '' }));
		const [only] = values;
		if (only && values.length === 1) {
			const names = [name, only.name].filter((text) => text !== '').join(', ');
			return names === '' ? only.text : `${names}: ${only.text}`;
		}
		const shown = values.map(({ name: of, text }) => (of === '' ? text : `${of}: ${text}`)).join('; ');
		return name === '' ? shown : `${name}${isWholeRow || values.length > 1 ? ' – ' : ': '}${shown}`;
	});
	return lines.length === 1
		? escapeMarkdownLine(lines[0] as string)
		: lines.map((line) => `- ${escapeMarkdownLine(line)}`).join('\n');
}

function renderList(units: readonly Unit[]): string {
	return units
		.map(({ number, depth, label, text }) => {
			const mark = number === null ? '-' : `${number}.`;
			return `${'   '.repeat(depth)}${mark} ${escapeMarkdownLine(label === '' ? text : `${label}: ${text}`)}`;
		})
		.join('\n');
}

function renderCode({ text, syntax }: Unit): string {
	const lines = text.split('\n');
	const shown = lines.length <= MAX_CODE_LINES ? lines : [...lines.slice(0, MAX_CODE_LINES), '…'];
	return codeFence(shown.join('\n'), syntax);
}

/** The names of headings as Markdown: `*Shipping*, *Returns*`. */
export function renderNames(names: readonly string[], separator: string): string {
	return names.map((name) => `*${escapeMarkdown(name)}*`).join(separator);
}
