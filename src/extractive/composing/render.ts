import { weekdayTerm } from '../calendar/weekdays.ts';
import type { TableSelection } from '../matching/candidate.ts';
import type { Cell, Terms, Unit } from '../reading/passage-reading.ts';
import { codeFence, escapeMarkdown, escapeMarkdownLine } from './markdown.ts';
import type { AnswerPart } from './select-parts.ts';

const MAX_CODE_LINES = 20;
/** A name above a pair that is longer is a sentence. */
const MAX_TOPIC_CHARACTERS = 80;

/** The day that an answer is about. */
export interface ShownDay {
	/** Empty if the answer does not begin with it. */
	name: string;
	/** 1 for Monday to 7 for Sunday; null for no single one. A label that says no more is left out. */
	weekday: number | null;
}

const NO_DAY: ShownDay = { name: '', weekday: null };

/** Renders the answer in Markdown. Each part ends with the number of its source. */
export function render(parts: readonly AnswerPart[], day: ShownDay = NO_DAY): string {
	return parts.map((part, at) => (at === 0 ? withDay(part, day) : renderPart(part))).join('\n\n');
}

/** `Monday (UTC): 9–17`, `Monday (UTC) – Monday to Friday: 9–17`. */
function withDay(part: AnswerPart, { name, weekday }: ShownDay): string {
	if (name === '') return renderPart(part);
	const [unit] = part.kind === 'sentences' ? part.units : [];
	if (part.kind === 'sentences' && unit && unit.label !== '' && isOnlyDay(unit.labelTerms, weekday)) {
		const { topic, isQuestion } = unit;
		const shown = {
			...unit,
			label: topic !== '' && topic.length <= MAX_TOPIC_CHARACTERS && !isQuestion ? topic : '',
			topic: '',
		};
		const separator = shown.label === '' ? ': ' : ' – ';
		return `${name}${separator}${renderPart({ ...part, units: [shown, ...part.units.slice(1)] })}`;
	}
	const rendered = renderPart(part);
	return /^(?:[-*] |\d+\. )/.test(rendered) ? `${name}:\n\n${rendered}` : `${name} – ${rendered}`;
}

function isOnlyDay(terms: Terms, weekday: number | null): boolean {
	return weekday !== null && terms.size === 1 && terms.has(weekdayTerm(weekday));
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
