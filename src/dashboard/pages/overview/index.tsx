import { useLiveQueries } from '../../api/live.ts';
import { useQuery } from '../../api/queries.ts';
import { allAssistants } from '../../api/workspace-lists.ts';
import { changeQuery, linkTo, route } from '../../app/route.ts';
import { ButtonLink } from '../../components/button.tsx';
import { FilterSelect, Filters, filterValue } from '../../components/filters.tsx';
import { optionsOf } from '../../components/options.ts';
import { EmptyState, PageHeader } from '../../components/page.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { strings } from '../../languages/index.ts';
import { Charts } from './charts.tsx';
import { type Costs, CostTables, useCosts } from './costs.tsx';
import { Models, TopDocuments, UncitedDocuments } from './documents.tsx';
import { Figures } from './figures.tsx';
import { questionsOf } from './format.ts';
import { OVERVIEW_KEY, RANGES, type Range, type Report, reportOf } from './queries.ts';
import { Unanswered } from './unanswered.tsx';

const DEFAULT_RANGE: Range = '30d';

/** The figures of the workspace, and its questions without an answer. */
export default function Overview() {
	const s = strings();
	const t = s.overviewPage;
	const range = chosenRange();
	const assistants = optionsOf(useQuery(allAssistants()).data);
	const assistantId = filterValue('assistant_id', assistants);
	const query = useQuery(reportOf(range, assistantId));
	const allCosts = useCosts(range);
	// Costs are not known by assistant.
	const costs = assistantId === undefined ? allCosts : null;
	useLiveQueries(
		['conversation.created', 'conversation.updated', 'message.created', 'knowledge_base.indexed'],
		OVERVIEW_KEY,
	);
	return (
		<>
			<PageHeader title={s.overview} purpose={t.purpose} />
			<Filters>
				<RangeChips chosen={range} />
				{assistants.length > 1 && <FilterSelect name="assistant_id" label={t.assistant} options={assistants} />}
			</Filters>
			<QueryContent query={query}>
				{(report) => <Content report={report} costs={costs} assistantId={assistantId} />}
			</QueryContent>
		</>
	);
}

function Content({
	report,
	costs,
	assistantId,
}: {
	report: Report;
	costs: Costs | null;
	assistantId: string | undefined;
}) {
	const t = strings().overviewPage;
	const isEmpty = questionsOf(report.total) + report.total.messages.visitor + report.total.conversations === 0;
	return (
		<div class="overview">
			<p class="hint">{t.utc}</p>
			{!report.is_current && <p class="notice">{t.notCurrent}</p>}
			{isEmpty ? (
				<EmptyState title={t.none} text={t.noneText}>
					<ButtonLink href={linkTo(['assistants'])}>{t.noneAction}</ButtonLink>
				</EmptyState>
			) : (
				<>
					<Figures report={report} costs={costs} />
					<Charts report={report} costs={costs} />
				</>
			)}
			<Unanswered assistantId={assistantId} />
			<div class="columns">
				<TopDocuments report={report} />
				<UncitedDocuments report={report} />
			</div>
			<Models report={report} />
			{costs && <CostTables costs={costs} />}
		</div>
	);
}

/** The range that the address names. */
function chosenRange(): Range {
	const named = route.value.query.get('range') ?? '';
	return Object.hasOwn(RANGES, named) ? (named as Range) : DEFAULT_RANGE;
}

function RangeChips({ chosen }: { chosen: Range }) {
	const t = strings().overviewPage;
	const labels: Record<Range, string> = { '24h': t.range24h, '7d': t.range7d, '30d': t.range30d, '90d': t.range90d };
	return (
		// biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be part of a row
		<div class="chips" role="group" aria-label={t.range}>
			{(Object.keys(RANGES) as Range[]).map((range) => (
				<button
					key={range}
					type="button"
					class="chip"
					aria-pressed={range === chosen}
					onClick={() => changeQuery({ range: range === DEFAULT_RANGE ? undefined : range })}
				>
					{labels[range]}
				</button>
			))}
		</div>
	);
}
