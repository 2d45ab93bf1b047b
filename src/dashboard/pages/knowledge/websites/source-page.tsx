import { useQuery } from '../../../api/queries.ts';
import { changeQuery, linkTo, route } from '../../../app/route.ts';
import { SelectField } from '../../../components/field.tsx';
import { EmptyState, PageHeader } from '../../../components/page.tsx';
import { PagedContent } from '../../../components/paged-content.tsx';
import { QueryContent } from '../../../components/query-content.tsx';
import { RelativeTime } from '../../../components/time.tsx';
import { fill, strings } from '../../../languages/index.ts';
import type { KnowledgeStrings } from '../../../languages/strings.ts';
import { knowledgeBaseById } from '../queries.ts';
import { useLiveWebsites } from '../use-live-knowledge.ts';
import { PageTable } from './page-table.tsx';
import { type SourcePage as Page, type Source, sourceById, useSourcePages } from './queries.ts';
import { SourceActions } from './source-actions.tsx';
import { progressText, SourceStatus } from './source-status.tsx';

/** The states of a page, with their words. */
export const PAGE_STATUSES: readonly (readonly [Page['status'], keyof KnowledgeStrings])[] = [
	['fetched', 'pageFetched'],
	['queued', 'pageQueued'],
	['failed', 'pageFailed'],
	['blocked', 'pageBlocked'],
	['redirected', 'pageRedirected'],
	['duplicate', 'pageDuplicate'],
	['gone', 'pageGone'],
	['removed', 'pageRemoved'],
];

/** One followed website: what it is doing, and its pages. */
export function SourcePage({ baseId, id }: { baseId: string; id: string }) {
	const query = useQuery(sourceById(baseId, id));
	useLiveWebsites(baseId);
	return <QueryContent query={query}>{(source) => <Content baseId={baseId} source={source} />}</QueryContent>;
}

function Content({ baseId, source }: { baseId: string; source: Source }) {
	const s = strings();
	const t = s.knowledgePages;
	const base = useQuery(knowledgeBaseById(baseId));
	const back = {
		label: base.data?.value.name ?? s.knowledge,
		href: linkTo(['knowledge', baseId], { tab: 'websites' }),
	};
	return (
		<>
			<PageHeader title={source.url} back={back}>
				<SourceActions baseId={baseId} source={source} />
			</PageHeader>
			<div class="base-facts">
				<SourceStatus source={source} />
				<span>{progressText(source)}</span>
				<span>
					{t.refresh}: {refreshText(t, source.refresh_hours)}
				</span>
				{source.next_run_at && (
					<span>
						{t.nextRun}: <RelativeTime at={source.next_run_at} />
					</span>
				)}
			</div>
			<Pages baseId={baseId} sourceId={source.id} />
		</>
	);
}

function refreshText(t: KnowledgeStrings, hours: number | null): string {
	if (hours === null) return t.refreshNever;
	const known: Readonly<Record<number, string>> = { 1: t.refreshHourly, 24: t.refreshDaily, 168: t.refreshWeekly };
	return known[hours] ?? fill(t.refreshHours, { n: hours });
}

function Pages({ baseId, sourceId }: { baseId: string; sourceId: string }) {
	const t = strings().knowledgePages;
	const wanted = route.value.query.get('status');
	const status = PAGE_STATUSES.find(([each]) => each === wanted)?.[0];
	const list = useSourcePages(baseId, sourceId, status);
	return (
		<>
			<div class="filter-fields">
				<SelectField
					label={t.filterStatus}
					value={status ?? ''}
					options={[
						{ value: '', label: t.allPages },
						...PAGE_STATUSES.map(([value, name]) => ({ value, label: t[name] as string })),
					]}
					onChange={(next) => changeQuery({ status: next })}
				/>
			</div>
			<PagedContent list={list}>
				{(pages) =>
					pages.length === 0 ? (
						<EmptyState title={t.noPages} text={t.noPagesText} />
					) : (
						<PageTable baseId={baseId} pages={pages} />
					)
				}
			</PagedContent>
		</>
	);
}
