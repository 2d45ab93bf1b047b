import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { useQuery } from '../../api/queries.ts';
import { changeQuery, linkTo, navigate, route } from '../../app/route.ts';
import { may } from '../../app/session.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState, ErrorState, LoadingLines } from '../../components/page.tsx';
import { strings } from '../../languages/index.ts';
import { archiveOrReopen, markAllRead, takeOver } from './actions.ts';
import { ConversationView } from './conversation-view.tsx';
import { Filters } from './filters.tsx';
import { InboxList } from './inbox-list.ts';
import { KeysDialog, useKeys } from './keys.tsx';
import { ConversationList, rowsOf } from './list.tsx';
import { filtersOf, type InboxEntry, type InboxFilters, loadEntry } from './queries.ts';
import { useLiveConversations } from './use-live.ts';
import { VisitorPanel } from './visitor.tsx';
import { useClock } from './waiting.tsx';

/** The inbox: the list, the open conversation, its visitor. On phones one of them at a time. */
export default function Inbox({ path: [openId] }: { path: readonly string[] }) {
	const t = strings().inboxPages;
	const filters = filtersOf(route.value.query);
	const list = useInboxList(filters);
	list.openId = openId;
	const [isHelpOpen, setHelpOpen] = useState(false);
	const open = useQuery<InboxEntry | null>({
		queryKey: ['inbox', 'entry', openId ?? ''],
		queryFn: ({ signal }) => (openId === undefined ? null : loadEntry(openId, signal)),
	});
	const entry = openId === undefined ? undefined : (open.data ?? undefined);
	useClock();
	useLiveConversations((id) => {
		list.refresh(id);
		if (id === openId) void open.refetch();
	});
	const refreshOpen = async () => {
		const { data } = await open.refetch();
		if (data) list.replace(data);
	};
	const isWriter = may('conversations:write');
	useKeys({
		next: () => step(list, openId, 1),
		previous: () => step(list, openId, -1),
		reply: () => entry && isWriter && void reply(entry, refreshOpen),
		archive: () => entry && isWriter && void archiveOrReopen(entry.conversation).then(refreshOpen),
		search: () => document.getElementById('inbox-search')?.focus(),
		help: () => setHelpOpen(true),
		leave: () => openId !== undefined && go(undefined),
	});
	useEffect(() => {
		document.title = `${entry?.conversation.title ?? strings().inbox} – Parley`;
	}, [entry?.conversation.title]);
	useLayoutEffect(() => {
		// The title of the page that loads had the focus, and is gone.
		if (entry && document.activeElement === document.body) document.querySelector<HTMLElement>('#content h1')?.focus();
	}, [entry === undefined]);
	const isDetails = route.value.query.get('details') === '1';
	return (
		<div class="inbox" data-column={openId === undefined ? 'list' : isDetails ? 'visitor' : 'conversation'}>
			<section class="inbox-list" aria-label={t.list}>
				<ListHeader isAlone={openId === undefined} onHelp={() => setHelpOpen(true)} onRead={() => void list.reload()} />
				<Filters filters={filters} />
				<ConversationList list={list} rows={rowsOf(list)} openId={openId} />
			</section>
			{openId === undefined ? (
				<div class="inbox-conversation">
					<EmptyState title={t.choose} text={t.chooseText} />
				</div>
			) : entry ? (
				<>
					<ConversationView key={openId} entry={entry} onChanged={() => void refreshOpen()} />
					<VisitorPanel
						key={`${openId} visitor`}
						conversation={entry.conversation}
						onChanged={() => void refreshOpen()}
						onErased={() => {
							list.remove(openId);
							go(undefined);
						}}
					/>
				</>
			) : (
				<div class="inbox-conversation">
					<h1 class="visually-hidden" tabIndex={-1}>
						{strings().inbox}
					</h1>
					{open.error ? <ErrorState error={open.error} onRetry={() => void open.refetch()} /> : <LoadingLines />}
				</div>
			)}
			<KeysDialog isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
		</div>
	);
}

function ListHeader({ isAlone, onHelp, onRead }: { isAlone: boolean; onHelp: () => void; onRead: () => void }) {
	const s = strings();
	const t = s.inboxPages;
	const readAll = async () => {
		if (await markAllRead()) onRead();
	};
	return (
		<header class="inbox-list-header">
			{isAlone ? <h1 tabIndex={-1}>{s.inbox}</h1> : <h2>{s.inbox}</h2>}
			<Button look="quiet" onClick={() => void readAll()}>
				{t.markAllRead}
			</Button>
			<span class="keys-button">
				<Button look="quiet" onClick={onHelp}>
					{t.keys}
				</Button>
			</span>
		</header>
	);
}

/** The list for the filters; another one for other filters. */
function useInboxList(filters: InboxFilters): InboxList {
	const [, render] = useState(0);
	const key = JSON.stringify(filters);
	const make = () => ({ key, list: new InboxList(filters, () => render((count) => count + 1)) });
	const [held, hold] = useState(make);
	const isCurrent = held.key === key;
	useEffect(() => {
		const current = isCurrent ? held : make();
		if (!isCurrent) hold(current);
		void current.list.loadMore();
		return () => current.list.leave();
	}, [key]);
	return held.list;
}

function go(id: string | undefined): void {
	const query = { ...Object.fromEntries(route.value.query), details: undefined };
	navigate(id === undefined ? ['inbox'] : ['inbox', id], query);
}

/** Opens the next or the previous conversation of the list. The browser's Back leads to the page before the first of them. */
function step(list: InboxList, openId: string | undefined, by: 1 | -1): void {
	const ids = list.sections.flatMap(({ entries }) => entries.map(({ conversation }) => conversation.id));
	const at = openId === undefined ? -1 : ids.indexOf(openId);
	const id = ids[at < 0 && by < 0 ? 0 : at + by];
	if (id === undefined) return;
	if (openId === undefined) go(id);
	else location.replace(linkTo(['inbox', id], Object.fromEntries(route.value.query)));
}

async function reply({ conversation }: InboxEntry, refresh: () => Promise<void>): Promise<void> {
	if (conversation.status === 'archived') return;
	if (route.value.query.get('details')) changeQuery({ details: undefined });
	if (conversation.handled_by === 'model') {
		if (!(await takeOver(conversation.id))) return;
		await refresh();
	}
	// The field is there after the page was rendered.
	requestAnimationFrame(() => document.getElementById('inbox-reply')?.focus());
}
