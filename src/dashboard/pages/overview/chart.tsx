import { useEffect, useRef, useState } from 'preact/hooks';
import { locale, strings } from '../../languages/index.ts';
import { drawChart, type Line } from './draw-chart.ts';
import { bucketLabel } from './format.ts';
import type { Report } from './queries.ts';

/** Lines over the hours or days of a report, with a table of the same values. */
export function Chart({
	title,
	report: { buckets, interval },
	lines,
	format = (value) => value.toLocaleString(locale.value),
}: {
	title: string;
	report: { buckets: readonly Pick<Report['buckets'][number], 'start'>[]; interval: Report['interval'] };
	lines: readonly Line[];
	format?: (value: number) => string;
}) {
	const t = strings().overviewPage;
	const frame = useRef<HTMLDivElement>(null);
	const [point, setPoint] = useState<number | null>(null);
	const pointed = point === null ? undefined : buckets[point];
	useEffect(() => {
		const element = frame.current;
		if (element === null) return;
		const times = buckets.map(({ start }) => Date.parse(start) / 1_000);
		return drawChart(element, [times, ...lines.map(({ values }) => [...values])], lines, format, setPoint);
	}, [buckets, lines.map(({ label }) => label).join()]);
	return (
		<figure class="card chart">
			<figcaption>
				<h2>{title}</h2>
				{lines.length > 1 && (
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
				)}
			</figcaption>
			<p class="chart-reading" aria-hidden="true">
				{pointed && point !== null && (
					<>
						<b>{bucketLabel(pointed.start, interval)}</b>
						{lines.map(({ label, values }) => ` · ${label} ${valueText(values[point] ?? null, format)}`)}
					</>
				)}
			</p>
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
