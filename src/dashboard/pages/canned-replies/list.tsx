import { useQuery } from '../../api/queries.ts';
import { linkTo } from '../../app/route.ts';
import { ButtonLink } from '../../components/button.tsx';
import { EmptyState, PageHeader } from '../../components/page.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { Table } from '../../components/table.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { strings } from '../../languages/index.ts';
import { type CannedReply, cannedReplyList } from './queries.ts';

const NEW = linkTo(['canned-replies', 'new']);
/** Characters of a text that the list shows. */
const PREVIEW_CHARS = 160;

export function CannedReplyList() {
	const t = strings().cannedReplyPages;
	const query = useQuery(cannedReplyList());
	return (
		<>
			<PageHeader title={t.title} purpose={t.purpose}>
				<ButtonLink look="primary" icon="plus" href={NEW}>
					{t.create}
				</ButtonLink>
			</PageHeader>
			<QueryContent query={query}>
				{(replies) =>
					replies.length === 0 ? (
						<EmptyState title={t.none} text={t.noneText}>
							<ButtonLink href={NEW}>{t.create}</ButtonLink>
						</EmptyState>
					) : (
						<CannedReplyTable replies={replies} />
					)
				}
			</QueryContent>
		</>
	);
}

function CannedReplyTable({ replies }: { replies: readonly CannedReply[] }) {
	const t = strings().cannedReplyPages;
	const pathOf = ({ id }: CannedReply) => ['canned-replies', id];
	return (
		<Table
			label={t.title}
			rows={replies}
			pathOf={pathOf}
			columns={[
				{ title: t.shortcut, cell: (reply) => <a href={linkTo(pathOf(reply))}>/{reply.shortcut}</a> },
				{ title: t.content, cell: ({ content }) => previewOf(content) },
				{ title: t.changed, cell: ({ updated_at }) => <RelativeTime at={updated_at} />, isMinor: true },
			]}
		/>
	);
}

function previewOf(content: string): string {
	return content.length > PREVIEW_CHARS ? `${content.slice(0, PREVIEW_CHARS)}…` : content;
}
