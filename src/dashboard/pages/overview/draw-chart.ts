import uPlot from 'uplot';
import { locale } from '../../languages/index.ts';
import { axisLabels } from './axis-labels.ts';

/** One line of a chart. */
export interface Line {
	label: string;
	/** The name of a colour in tokens.css. */
	colour: '--accent' | '--green' | '--amber' | '--red' | '--control';
	/** Drawn with gaps, so that colour is not the only difference between lines. */
	dash?: number[];
	values: ReadonlyArray<number | null>;
}

const HEIGHT = 200;
/** The least width of a label of the time axis (px). */
const AXIS_SPACE = 64;
const DARK = matchMedia('(prefers-color-scheme: dark)');

/**
 * Draws a chart that fits its element and the colours of the page, with axes in the language of the dashboard.
 * @param onPoint called with the bucket under the pointer; null: the pointer has left
 * @returns a function that removes the chart
 */
export function drawChart(
	element: HTMLElement,
	data: Array<Array<number | null>>,
	lines: readonly Line[],
	format: (value: number) => string,
	onPoint: (at: number | null) => void,
): () => void {
	let plot: uPlot | null = null;
	const create = () => {
		plot?.destroy();
		plot = new uPlot(optionsOf(element.clientWidth, lines, format, onPoint), data as uPlot.AlignedData, element);
	};
	create();
	const resize = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: HEIGHT }));
	resize.observe(element);
	DARK.addEventListener('change', create);
	return () => {
		resize.disconnect();
		DARK.removeEventListener('change', create);
		plot?.destroy();
	};
}

function optionsOf(
	width: number,
	lines: readonly Line[],
	format: (value: number) => string,
	onPoint: (at: number | null) => void,
): uPlot.Options {
	const style = getComputedStyle(document.documentElement);
	const colour = (name: string) => style.getPropertyValue(name).trim();
	const axis = { stroke: colour('--soft'), font: '12px system-ui', ticks: { show: false } };
	const grid = { stroke: colour('--line'), width: 1 };
	return {
		width,
		height: HEIGHT,
		tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
		legend: { show: false },
		cursor: { drag: { x: false, y: false } },
		hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
		scales: { y: { range: (_plot, _min, max) => [0, Math.max(max, 1) * 1.1] } },
		axes: [
			{
				...axis,
				grid: { show: false },
				space: AXIS_SPACE,
				values: (_plot, splits, _axis, _space, increment) => axisLabels(locale.value, splits, increment),
			},
			{ ...axis, grid, size: 64, values: (_plot, splits) => splits.map((value) => axisText(value, format)) },
		],
		series: [
			{},
			...lines.map(({ label, colour: name, dash }) => ({
				label,
				stroke: colour(name),
				width: 2,
				points: { show: lines.length > 0 && width > 0, size: 5 },
				...(dash === undefined ? {} : { dash }),
			})),
		],
	};
}

/** Fractions of a message are no message. */
function axisText(value: number, format: (value: number) => string): string {
	return Number.isInteger(value) ? format(value) : '';
}
