import { type Figure, isMet, type PartResult, type ServerName } from './figure.ts';
import { number, withUnit } from './table.ts';

const WIDTH = 1100;
const LINE = 22;
const LABEL = 520;
const BAR = 360;
const FILL: Record<ServerName, string> = {
	parley: '#2f6fed',
	ceiling: '#9aa4b2',
	'early ceiling': '#6b7686',
	baseline: '#d9822b',
};
const NAMES: Record<ServerName, string> = {
	parley: 'Parley',
	ceiling: 'ceiling',
	'early ceiling': 'early ceiling',
	baseline: 'baseline',
};
const MISSED = '#c0392b';
/** Bars of goals are cut off at this multiple of the bound. */
const MAX_BAR_RATIO = 2;

/** Draws the figures as SVG: first the servers beside each other, then each goal with its figure. */
export function chart(parts: readonly PartResult[]): string {
	const drawing = new SvgDrawing();
	drawing.title('Beside each other, in one run');
	for (const { part, figures } of parts) {
		for (const [name, compared] of comparisons(figures)) {
			drawing.text(`${part}: ${name}`);
			const longest = Math.max(...compared.map(({ value }) => value.median));
			for (const { who = 'parley', value, unit } of compared) {
				drawing.bar(NAMES[who], value.median / longest, FILL[who], withUnit(value.median, unit));
			}
		}
	}
	drawing.title('Goals: the line is the goal');
	for (const { part, figures } of parts) {
		for (const figure of figures) {
			if (figure.goal === undefined) continue;
			const { is, bound } = figure.goal;
			const valueText = `${number(figure.value.median)} of ${is} ${withUnit(bound, figure.unit)}`;
			const length = bound === 0 ? 0 : Math.min(MAX_BAR_RATIO, figure.value.median / bound) / MAX_BAR_RATIO;
			drawing.bar(
				`${part}: ${figure.name}`,
				length,
				isMet(figure) ? FILL.parley : MISSED,
				valueText,
				1 / MAX_BAR_RATIO,
			);
		}
	}
	return drawing.end();
}

function comparisons(figures: readonly Figure[]): [string, Figure[]][] {
	const byName = new Map<string, Figure[]>();
	for (const figure of figures) byName.set(figure.name, [...(byName.get(figure.name) ?? []), figure]);
	return [...byName].filter(([, of]) => of.length > 1);
}

class SvgDrawing {
	readonly #parts: string[] = [];
	#y = 10;

	title(text: string): void {
		this.#y += LINE;
		this.#parts.push(`<text x="10" y="${this.#y + 15}" font-weight="bold">${escapeXml(text)}</text>`);
		this.#y += LINE;
	}

	text(text: string): void {
		this.#parts.push(`<text x="10" y="${this.#y + 15}">${escapeXml(text)}</text>`);
		this.#y += LINE;
	}

	/** @param length from 0 to 1. @param mark position of a line across the bar, if any */
	bar(label: string, length: number, fill: string, valueText: string, mark?: number): void {
		const y = this.#y;
		const width = Math.max(1, Math.round(length * BAR));
		this.#parts.push(
			`<text x="${LABEL - 8}" y="${y + 15}" text-anchor="end">${escapeXml(label)}</text>`,
			`<rect x="${LABEL}" y="${y + 4}" width="${width}" height="${LINE - 8}" fill="${fill}"/>`,
			`<text x="${LABEL + Math.max(width, mark === undefined ? 0 : mark * BAR) + 8}" y="${y + 15}">${escapeXml(valueText)}</text>`,
		);
		if (mark !== undefined) {
			const x = LABEL + mark * BAR;
			this.#parts.push(`<line x1="${x}" x2="${x}" y1="${y}" y2="${y + LINE}" stroke="#222" stroke-width="2"/>`);
		}
		this.#y += LINE;
	}

	end(): string {
		const height = this.#y + 20;
		return [
			`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13">`,
			`<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
			...this.#parts,
			'</svg>\n',
		].join('\n');
	}
}

function escapeXml(text: string): string {
	return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
