import { linkTo } from '../../../app/route.ts';
import { Status } from '../../../components/status.tsx';
import { Table } from '../../../components/table.tsx';
import { RelativeTime } from '../../../components/time.tsx';
import { strings } from '../../../languages/index.ts';
import { adviceOf } from '../documents/error-sentence.ts';
import type { SourcePage } from './queries.ts';

/** The pages of a website, each with what has become of it. */
export function PageTable({ baseId, pages }: { baseId: string; pages: readonly SourcePage[] }) {
	const t = strings().knowledgePages;
	return (
		<Table
			label={t.sourcePages}
			rows={pages}
			pathOf={null}
			columns={[
				{ title: t.page, cell: (page) => <PageName baseId={baseId} page={page} /> },
				{ title: t.pageResult, cell: (page) => <PageStatus page={page} /> },
				{
					title: t.pageChanged,
					cell: ({ changed_at }) => changed_at && <RelativeTime at={changed_at} />,
					isMinor: true,
				},
			]}
		/>
	);
}

/** The address: a link to the page's document, if it has one. */
function PageName({ baseId, page: { url, document_id, target_url, error } }: { baseId: string; page: SourcePage }) {
	return (
		<>
			{document_id === null ? url : <a href={linkTo(['knowledge', baseId, 'documents', document_id])}>{url}</a>}
			{target_url !== null && <p class="hint">→ {target_url}</p>}
			{error && <p class="field-error">{adviceOf(error)}</p>}
		</>
	);
}

function PageStatus({ page: { status } }: { page: SourcePage }) {
	const t = strings().knowledgePages;
	switch (status) {
		case 'fetched':
			return <Status tone="green">{t.pageFetched}</Status>;
		case 'queued':
			return <Status tone="grey">{t.pageQueued}</Status>;
		case 'redirected':
			return <Status tone="grey">{t.pageRedirected}</Status>;
		case 'duplicate':
			return <Status tone="grey">{t.pageDuplicate}</Status>;
		case 'blocked':
			return <Status tone="amber">{t.pageBlocked}</Status>;
		case 'failed':
			return <Status tone="red">{t.pageFailed}</Status>;
		case 'gone':
			return <Status tone="amber">{t.pageGone}</Status>;
		case 'removed':
			return <Status tone="grey">{t.pageRemoved}</Status>;
	}
}
