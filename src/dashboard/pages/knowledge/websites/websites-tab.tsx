import { useState } from 'preact/hooks';
import { linkTo } from '../../../app/route.ts';
import { Button } from '../../../components/button.tsx';
import { EmptyState } from '../../../components/page.tsx';
import { PagedContent } from '../../../components/paged-content.tsx';
import { Table } from '../../../components/table.tsx';
import { RelativeTime } from '../../../components/time.tsx';
import { strings } from '../../../languages/index.ts';
import { mayWrite } from '../may-write.ts';
import { useLiveWebsites } from '../use-live-knowledge.ts';
import { type Source, useSources } from './queries.ts';
import { SourceForm } from './source-form.tsx';
import { progressText, SourceStatus } from './source-status.tsx';

/** The websites, sitemaps and pages that a knowledge base follows. */
export function WebsitesTab({ baseId }: { baseId: string }) {
	const t = strings().knowledgePages;
	const list = useSources(baseId);
	useLiveWebsites(baseId);
	const [isAdding, setAdding] = useState(false);
	const add = () => setAdding(true);
	return (
		<>
			{isAdding ? (
				<SourceForm baseId={baseId} onClose={() => setAdding(false)} />
			) : (
				mayWrite() && (
					<div class="actions tab-actions">
						<Button icon="plus" look="primary" onClick={add}>
							{t.addWebsite}
						</Button>
					</div>
				)
			)}
			<PagedContent list={list}>
				{(sources) =>
					sources.length === 0 ? (
						<EmptyState title={t.noWebsites} text={t.noWebsitesText} />
					) : (
						<SourceTable baseId={baseId} sources={sources} />
					)
				}
			</PagedContent>
		</>
	);
}

function SourceTable({ baseId, sources }: { baseId: string; sources: readonly Source[] }) {
	const t = strings().knowledgePages;
	const pathOf = ({ id }: Source) => ['knowledge', baseId, 'websites', id];
	return (
		<Table
			label={t.websites}
			rows={sources}
			pathOf={pathOf}
			columns={[
				{ title: t.sourceUrl, cell: (source) => <a href={linkTo(pathOf(source))}>{source.url}</a> },
				{ title: t.status, cell: (source) => <SourceStatus source={source} /> },
				{ title: t.sourcePages, cell: progressText, isMinor: true },
				{
					title: t.nextRun,
					cell: ({ next_run_at }) => next_run_at && <RelativeTime at={next_run_at} />,
					isMinor: true,
				},
			]}
		/>
	);
}
