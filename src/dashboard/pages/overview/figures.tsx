import { fill, locale, strings } from '../../languages/index.ts';
import { formatMoney } from '../../languages/money.ts';
import { type Costs, costsSince } from './costs.tsx';
import { change, changeOfShare, duration, questionsOf, share } from './format.ts';
import type { Figures as FiguresOf, Report } from './queries.ts';

interface Figure {
	label: string;
	value: string;
	detail?: string;
	change?: string;
}

/** The most important figures, each with its change. */
export function Figures({ report: { total, before }, costs }: { report: Report; costs: Costs | null }) {
	// A workspace that is newer than the range has nothing to compare with: "none before" on every card says nothing.
	const hasBefore = before.conversations > 0 || questionsOf(before) > 0;
	const figures = costs ? [...figuresIn(total, before), costFigure(costs)] : figuresIn(total, before);
	return (
		<dl class="figures">
			{figures.map(({ label, value, detail, change: changed }) => (
				<div key={label} class="figure">
					<dt>{label}</dt>
					<dd class="figure-value">{value}</dd>
					{detail && <dd class="hint">{detail}</dd>}
					{hasBefore && changed && <dd class="hint">{changed}</dd>}
				</div>
			))}
		</dl>
	);
}

function costFigure(costs: Costs): Figure {
	const { total, before, currency } = costs;
	return {
		label: strings().costTexts.costs,
		value: formatMoney(total, currency, locale.value),
		detail: costsSince(costs),
		change: change(total, before),
	};
}

function figuresIn(total: FiguresOf, before: FiguresOf): Figure[] {
	const t = strings().overviewPage;
	const number = (value: number) => value.toLocaleString(locale.value);
	const shareOf = (label: string, key: keyof FiguresOf['answers']): Figure => ({
		label,
		value: share(total.answers[key], questionsOf(total)),
		detail: number(total.answers[key]),
		change: changeOfShare(total, before, key),
	});
	const timeOf = (label: string, key: 'first_token_ms' | 'duration_ms'): Figure => ({
		label,
		value: duration(total[key].median),
		detail: fill(t.p95, { time: duration(total[key].p95) }),
		change: change(total[key].median, before[key].median),
	});
	const { up, down } = total.feedback;
	return [
		{
			label: t.messages,
			value: number(total.messages.visitor),
			change: change(total.messages.visitor, before.messages.visitor),
		},
		{
			label: t.conversations,
			value: number(total.conversations),
			change: change(total.conversations, before.conversations),
		},
		shareOf(t.answered, 'documents'),
		shareOf(t.byTools, 'tools'),
		shareOf(t.unansweredShare, 'none'),
		shareOf(t.handedOver, 'human'),
		{ label: t.feedback, value: share(up, up + down), detail: fill(t.feedbackValue, { up, down }) },
		timeOf(t.firstWord, 'first_token_ms'),
		timeOf(t.wholeReply, 'duration_ms'),
	];
}
