import { useQuery } from '../../api/queries.ts';
import { linkTo } from '../../app/route.ts';
import { ShortId } from '../../components/copy-button.tsx';
import { PageHeader } from '../../components/page.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { currentTab, Tabs } from '../../components/tabs.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { count, fill, strings } from '../../languages/index.ts';
import { BaseStatus } from './base-status.tsx';
import { DocumentsTab } from './documents/documents-tab.tsx';
import { adviceOf } from './documents/error-sentence.ts';
import { mayWrite } from './may-write.ts';
import { type IndexingStatus, indexingStatus, knowledgeBaseById } from './queries.ts';
import { SearchTab } from './search/search-tab.tsx';
import { SettingsTab } from './settings/settings-tab.tsx';
import { useLiveKnowledge } from './use-live-knowledge.ts';
import { WebsitesTab } from './websites/websites-tab.tsx';

/** One knowledge base: its state, and one of its parts. */
export function BasePage({ id }: { id: string }) {
	const s = strings();
	const t = s.knowledgePages;
	const query = useQuery(knowledgeBaseById(id));
	const status = useQuery(indexingStatus(id));
	useLiveKnowledge(id);
	const tabs = [
		{ value: 'documents', label: t.documents },
		{ value: 'websites', label: t.websites },
		{ value: 'search', label: t.search },
		...(mayWrite() ? [{ value: 'settings', label: t.settings }] : []),
	];
	const tab = currentTab(tabs);
	return (
		<QueryContent query={query}>
			{(base) => (
				<>
					<PageHeader title={base.value.name} back={{ label: s.knowledge, href: linkTo(['knowledge']) }}>
						<ShortId id={id} />
					</PageHeader>
					<p class="base-facts">
						<BaseStatus base={base.value} />
						<span>{count(t.documentCount, base.value.document_count)}</span>
						{status.data?.last_indexed_at && <LastIndexed at={status.data.last_indexed_at} />}
					</p>
					{status.data && <Problems id={id} status={status.data} />}
					<Tabs label={t.parts} tabs={tabs} />
					{tab === 'websites' ? (
						<WebsitesTab baseId={id} />
					) : tab === 'search' ? (
						<SearchTab base={base} />
					) : tab === 'settings' ? (
						<SettingsTab base={base} />
					) : (
						<DocumentsTab baseId={id} />
					)}
				</>
			)}
		</QueryContent>
	);
}

function LastIndexed({ at }: { at: string }) {
	const [before, after] = strings().knowledgePages.lastIndexed.split('{time}');
	return (
		<span>
			{before}
			<RelativeTime at={at} />
			{after}
		</span>
	);
}

/** How far the indexing is, what it waits for, and whether a reindex is due. */
function Problems({ id, status }: { id: string; status: IndexingStatus }) {
	const t = strings().knowledgePages;
	const { documents_indexed: done, documents_total: total, problem, reindex_required } = status;
	return (
		<>
			{done + status.documents_failed < total && (
				<div class="progress-line">
					<progress max={total} value={done} aria-label={t.indexing} />
					<span>{fill(t.progress, { done, total })}</span>
				</div>
			)}
			{problem && (
				<p class="notice" role="status">
					<b>{t.problem}.</b> {adviceOf(problem)} <span lang="en">({problem.message})</span>
				</p>
			)}
			{reindex_required && (
				<p class="notice">
					{t.reindexRequired} <a href={linkTo(['knowledge', id], { tab: 'settings' })}>{t.toReindex}</a>
				</p>
			)}
		</>
	);
}
