import { useRef } from 'preact/hooks';
import { changeQuery, linkTo, route } from '../../app/route.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { EmptyState, ErrorState, LoadingLines } from '../../components/page.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { count, fill, strings } from '../../languages/index.ts';
import { type InboxList, MAX_ENTRIES } from './inbox-list.ts';
import { FILTER_NAMES, type InboxEntry } from './queries.ts';
import { VirtualRows } from './virtual-rows.tsx';
import { Waiting } from './waiting.tsx';

const ENTRY_HEIGHT = 84;
const HEADING_HEIGHT = 32;
/** The next page is loaded when the view comes this close to the end of the loaded rows. */
const ROWS_AHEAD = 30;

type Row = { heading: string } | InboxEntry;

/**
 * The loaded conversations, those with unread messages first.
 * @param rows from `rowsOf`: an array of each state of the list, because a component with the same properties is not rendered again
 */
export function ConversationList({
	list,
	rows,
	openId,
}: {
	list: InboxList;
	rows: readonly Row[];
	openId: string | undefined;
}) {
	const t = strings().inboxPages;
	const scroller = useRef<HTMLDivElement>(null);
	if (rows.length === 0) return NoRows({ list });
	const loadAhead = (last: number) => {
		if (last >= rows.length - ROWS_AHEAD && !list.isComplete && list.error === null) void list.loadMore();
	};
	return (
		<div class="inbox-scroller" ref={scroller}>
			<VirtualRows
				scroller={scroller}
				count={rows.length}
				label={t.list}
				heightOf={(index) => ('heading' in (rows[index] as Row) ? HEADING_HEIGHT : ENTRY_HEIGHT)}
				onRange={loadAhead}
				reveal={{
					key: openId,
					index: rows.findIndex((row) => 'conversation' in row && row.conversation.id === openId),
				}}
			>
				{(index) => <RowView row={rows[index] as Row} openId={openId} />}
			</VirtualRows>
			{list.error && <ErrorState error={list.error} onRetry={() => void list.loadMore()} />}
			{list.count >= MAX_ENTRIES && <p class="hint">{fill(t.tooMany, { n: MAX_ENTRIES })}</p>}
		</div>
	);
}

function NoRows({ list }: { list: InboxList }) {
	const t = strings().inboxPages;
	if (list.error) return <ErrorState error={list.error} onRetry={() => void list.loadMore()} />;
	if (!list.isComplete) return <LoadingLines count={8} />;
	if (Object.keys(list.filters).length === 0) {
		return (
			<EmptyState title={t.none} text={t.noneText}>
				<ButtonLink href={linkTo(['deployments'])}>{t.toDeployments}</ButtonLink>
			</EmptyState>
		);
	}
	const clear = Object.fromEntries(FILTER_NAMES.map((name) => [name, undefined]));
	return (
		<EmptyState title={t.noMatch} text={t.noMatchText}>
			<Button onClick={() => changeQuery(clear)}>{t.clearFilters}</Button>
		</EmptyState>
	);
}

/** The rows, with a heading where the list has two sections with entries. */
export function rowsOf({ sections }: InboxList): Row[] {
	const t = strings().inboxPages;
	const filled = sections.filter(({ entries }) => entries.length > 0);
	if (sections.length < 2 || (filled.length === 1 && filled[0]?.unread === false)) {
		return filled.flatMap(({ entries }) => entries);
	}
	return filled.flatMap(({ unread, entries }): Row[] => [
		{ heading: unread ? t.unreadSection : t.restSection },
		...entries,
	]);
}

function RowView({ row, openId }: { row: Row; openId: string | undefined }) {
	if ('heading' in row) return <h2 class="inbox-heading">{row.heading}</h2>;
	return <EntryView entry={row} isOpen={row.conversation.id === openId} />;
}

function EntryView({ entry, isOpen }: { entry: InboxEntry; isOpen: boolean }) {
	const t = strings().inboxPages;
	const { conversation, last_message, unread_count, waiting_since } = entry;
	return (
		<a
			class={unread_count > 0 ? 'inbox-entry is-unread' : 'inbox-entry'}
			href={linkTo(['inbox', conversation.id], Object.fromEntries(route.value.query))}
			aria-current={isOpen ? 'true' : undefined}
		>
			<span class="entry-top">
				<span class="entry-name">{conversation.title ?? visitorName(conversation)}</span>
				<RelativeTime at={conversation.last_message_at ?? conversation.created_at} />
			</span>
			<span class="entry-text">{entry.match?.excerpt ?? previewOf(last_message)}</span>
			<span class="entry-marks">
				<span class="entry-visitor">{conversation.title === null ? '' : visitorName(conversation)}</span>
				{waiting_since !== null && <Waiting since={waiting_since} />}
				{conversation.handled_by === 'human' && <span class="mark">{t.handledByPerson}</span>}
				{entry.unanswered && <span class="mark mark-amber">{t.unanswered}</span>}
				{entry.rated_down && <span class="mark mark-red">{t.ratedDown}</span>}
				{unread_count > 0 && (
					<span class="unread-count">
						<span aria-hidden="true">{unread_count > 99 ? '99+' : unread_count}</span>
						<span class="visually-hidden">{count(t.unread, unread_count)}</span>
					</span>
				)}
			</span>
		</a>
	);
}

/** The visitor's name, or what else is known. */
export function visitorName({ end_user }: InboxEntry['conversation']): string {
	return end_user?.name ?? end_user?.email ?? end_user?.id ?? strings().inboxPages.visitorUnknown;
}

function previewOf(message: InboxEntry['last_message']): string {
	const t = strings().inboxPages;
	if (message === null) return '';
	if (message.status === 'in_progress') return t.writing;
	const text = message.text.replaceAll(/\s+/g, ' ');
	if (message.role === 'user') return text;
	return `${message.author.type === 'human' ? (message.author.name ?? t.person) : t.assistant}: ${text}`;
}
