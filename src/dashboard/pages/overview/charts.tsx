import { strings } from '../../languages/index.ts';
import { Chart } from './chart.tsx';
import { CostChart, type Costs } from './costs.tsx';
import type { Line } from './draw-chart.ts';
import { duration } from './format.ts';
import type { Figures, Report } from './queries.ts';

/** Messages, what answers them, how fast, and at what cost. */
export function Charts({ report, costs }: { report: Report; costs: Costs | null }) {
	const t = strings().overviewPage;
	const line = (
		label: string,
		colour: Line['colour'],
		pick: (figures: Figures) => number | null,
		dash?: number[],
	): Line => ({ label, colour, values: report.buckets.map(pick), ...(dash === undefined ? {} : { dash }) });
	return (
		<div class="charts">
			<Chart
				title={t.messagesChart}
				report={report}
				lines={[
					line(t.visitors, '--accent', ({ messages }) => messages.visitor),
					line(t.model, '--green', ({ messages }) => messages.model, [6, 4]),
					line(t.people, '--amber', ({ messages }) => messages.human, [2, 3]),
				]}
			/>
			<Chart
				title={t.answersChart}
				report={report}
				lines={[
					line(t.documents, '--green', ({ answers }) => answers.documents),
					line(t.tools, '--accent', ({ answers }) => answers.tools, [6, 4]),
					line(t.modelAlone, '--control', ({ answers }) => answers.model, [10, 4]),
					line(t.nothing, '--red', ({ answers }) => answers.none, [2, 3]),
					line(t.person, '--amber', ({ answers }) => answers.human, [8, 3, 2, 3]),
				]}
			/>
			<Chart
				title={t.timesChart}
				report={report}
				format={duration}
				lines={[
					line(t.firstWord, '--accent', ({ first_token_ms }) => first_token_ms.median),
					line(t.wholeReply, '--amber', ({ duration_ms }) => duration_ms.median, [6, 4]),
				]}
			/>
			{costs && <CostChart costs={costs} />}
		</div>
	);
}
