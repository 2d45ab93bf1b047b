import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { language, strings } from '../../languages/index.ts';
import { bucketLabel } from './format.ts';
import type { Report } from './queries.ts';

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
const DARK = matchMedia('(prefers-color-scheme: dark)');

/** Lines over the hours or days of a report, with a table of the same values. */
export function Chart({
	title,
	report: { buckets, interval },
	lines,
	format = (value) => value.toLocaleString(language.value),
}: {
	title: string;
	report: Report;
	lines: readonly Line[];
	format?: (value: number) => string;
}) {
	const t = strings().overviewPage;
	const frame = useRef<HTMLDivElement>(null);
	useEffect(() => {
		const element = frame.current;
		if (element === null) return;
		const times = buckets.map(({ start }) => Date.parse(start) / 1_000);
		return draw(element, [times, ...lines.map(({ values }) => [...values])], lines, format);
	}, [buckets, lines.map(({ label }) => label).join()]);
	return (
		<figure class="card chart">
			<figcaption>
				<h2>{title}</h2>
				<ul class="legend">
					{lines.map(({ label, colour, dash }) => (
						<li key={label}>
							<svg viewBox="0 0 24 8" width="24" height="8" aria-hidden="true" class={`legend${colour}`}>
								<path d="M1 4h22" stroke-dasharray={dash?.join(' ')} />
							</svg>
							{label}
						</li>
					))}
				</ul>
			</figcaption>
			<div ref={frame} class="chart-frame" aria-hidden="true" />
			<details>
				<summary>{t.asTable}</summary>
				{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
				<section class="table-frame chart-table" aria-label={title} tabIndex={0}>
					<table>
						<thead>
							<tr>
								<th scope="col">{t.time}</th>
								{lines.map(({ label }) => (
									<th key={label} scope="col" class="number">
										{label}
									</th>
								))}
							</tr>
						</thead>
						<tbody>
							{buckets.map(({ start }, at) => (
								<tr key={start}>
									<th scope="row">{bucketLabel(start, interval)}</th>
									{lines.map(({ label, values }) => (
										<td key={label} class="number">
											{valueText(values[at] ?? null, format)}
										</td>
									))}
								</tr>
							))}
						</tbody>
					</table>
				</section>
			</details>
		</figure>
	);
}

function valueText(value: number | null, format: (value: number) => string): string {
	return value === null ? '–' : format(value);
}

/** Draws a chart that fits its element and the colours of the page. Returns a function that removes it. */
function draw(
	element: HTMLElement,
	data: Array<Array<number | null>>,
	lines: readonly Line[],
	format: (value: number) => string,
): () => void {
	let plot: uPlot | null = null;
	const create = () => {
		plot?.destroy();
		plot = new uPlot(optionsOf(element.clientWidth, lines, format), data as uPlot.AlignedData, element);
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

function optionsOf(width: number, lines: readonly Line[], format: (value: number) => string): uPlot.Options {
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
		scales: { y: { range: (_plot, _min, max) => [0, Math.max(max, 1) * 1.1] } },
		axes: [
			{ ...axis, grid: { show: false } },
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
