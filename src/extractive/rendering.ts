import type { Unit } from './analyse-passage.ts';
import { codeFence, escapeMarkdown, escapeMarkdownLine } from './markdown.ts';
import { PHRASES, type SpokenLanguage } from './phrases.ts';
import type { QuotablePassage } from './request.ts';
import type { Quotation } from './selection.ts';

const MAX_NAME_LENGTH = 80;
const MAX_CODE_LINES = 20;

/**
 * Renders the answer in Markdown: one paragraph or list per source, which begins with the source's name and ends with its
 * number.
 */
export function render(quotations: readonly Quotation[], language: SpokenLanguage): string {
	const paragraphs: string[] = [];
	let previousName = '';
	quotations.forEach((quotation, i) => {
		const name = sourceName(quotation.source.passage, language);
		const phrases = PHRASES[language];
		const frame = i === 0 ? phrases.accordingTo(name) : phrases.also(name);
		// For a reader, neighbouring chunks of one page are one source.
		paragraphs.push(renderQuotation(quotation, name === previousName ? '' : frame));
		previousName = name;
	});
	return paragraphs.join('\n\n');
}

/** `*Employee handbook › Vacation* (page 3)`. */
function sourceName(passage: QuotablePassage, language: SpokenLanguage): string {
	const title = truncateName(passage.title);
	const heading = truncateName(passage.heading_path.at(-1) ?? '');
	const names = [title, heading === title ? '' : heading].filter((name) => name !== '');
	if (names.length === 0) return `[${passage.index}]`;
	const name = names.map(escapeMarkdown).join(' › ');
	// Markdown does not recognise closing emphasis between a bracket and a letter, so Japanese uses quotation marks.
	const marked = language === 'ja' ? `「${name}」` : `*${name}*`;
	return passage.page === null ? marked : `${marked} (${PHRASES[language].page(passage.page)})`;
}

function truncateName(name: string): string {
	const points = [...name.trim()];
	return points.length <= MAX_NAME_LENGTH ? name.trim() : `${points.slice(0, MAX_NAME_LENGTH).join('').trimEnd()}…`;
}

function renderQuotation({ source, positions, cutAfter }: Quotation, frame: string): string {
	const citation = `[${source.passage.index}]`;
	const parts: string[] = [];
	let line = frame;
	for (const run of runsOf(positions, source.analysis.units)) {
		const units = run.map((position) => source.analysis.units[position] as Unit);
		const kind = (units[0] as Unit).kind;
		const leadsIntoList =
			units.at(-1)?.kind === 'sentence' && isLead(source.analysis.units, positions, run.at(-1) as number);
		if (kind === 'sentence') {
			const separator = line === '' ? '' : ' ';
			line += separator + renderSentences(units, line === '') + (leadsIntoList ? '' : ` ${citation}`);
			continue;
		}
		if (kind === 'code') {
			parts.push(`${line} ${citation}`.trim(), ...units.map(renderCode));
		} else {
			const cut = cutAfter.has(run.at(-1) as number);
			if (line !== '') parts.push(line);
			parts.push(`${renderList(units)}${cut ? ' …' : ''} ${citation}`);
		}
		line = '';
	}
	if (line !== '') parts.push(line);
	return parts.join('\n\n');
}

/** Groups neighbouring units of one form. A list that is quoted in part is one run too. */
function runsOf(positions: number[], units: Unit[]): number[][] {
	const runs: number[][] = [];
	for (const position of positions) {
		const run = runs.at(-1);
		const last = run?.at(-1);
		const [unit, before] = [units[position] as Unit, last === undefined ? undefined : units[last]];
		const joins =
			before?.kind === unit.kind && (unit.kind === 'sentence' ? last === position - 1 : before.block === unit.block);
		if (run && joins) run.push(position);
		else runs.push([position]);
	}
	return runs;
}

function isLead(units: Unit[], positions: number[], position: number): boolean {
	return positions.some((other) => units[other]?.leadIn === position);
}

function renderSentences(units: Unit[], atLineStart: boolean): string {
	return units
		.map((unit, i) => (atLineStart && i === 0 ? escapeMarkdownLine(unit.text) : escapeMarkdown(unit.text)))
		.join(' ');
}

function renderList(units: Unit[]): string {
	return units
		.map(
			({ number, depth, text }) =>
				`${'   '.repeat(depth)}${number === null ? '-' : `${number}.`} ${escapeMarkdownLine(text)}`,
		)
		.join('\n');
}

function renderCode({ text, syntax }: Unit): string {
	const lines = text.split('\n');
	const shown = lines.length <= MAX_CODE_LINES ? lines : [...lines.slice(0, MAX_CODE_LINES), '…'];
	return codeFence(shown.join('\n'), syntax);
}
