import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { changeQuery, linkTo, route } from '../../app/route.ts';
import { may } from '../../app/session.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { ErrorState, LoadingLines, sentenceOf } from '../../components/page.tsx';
import { Status } from '../../components/status.tsx';
import { strings } from '../../languages/index.ts';
import { archiveOrReopen, markRead, release } from './actions.ts';
import { ComposerModes } from './composer-modes.tsx';
import { visitorName } from './list.tsx';
import { MessageView } from './message-view.tsx';
import { OpenConversation } from './open-conversation.ts';
import { OtherPeople, useLooking } from './presence.tsx';
import type { InboxEntry } from './queries.ts';
import { Waiting } from './waiting.tsx';

/** A reader within this distance of the end (px) follows what is written. */
const FOLLOWS_PX = 120;

/** A conversation while it goes on, with what a person can do in it. */
export function ConversationView({ entry, onChanged }: { entry: InboxEntry; onChanged: () => void }) {
	const s = strings();
	const t = s.inboxPages;
	const { conversation } = entry;
	const { id } = conversation;
	const [, render] = useState(0);
	const [open] = useState(() => new OpenConversation(id, () => render((renders) => renders + 1)));
	useLooking(id);
	const log = useRef<HTMLDivElement>(null);
	const follows = useRef(true);
	useEffect(() => {
		open.open();
		return () => open.leave();
	}, []);
	const ended = open.messages.filter(({ status }) => status !== 'in_progress').length;
	useEffect(() => {
		const read = () => {
			if (open.isLoaded && document.visibilityState === 'visible') void markRead(id).then(onChanged);
		};
		read();
		document.addEventListener('visibilitychange', read);
		return () => document.removeEventListener('visibilitychange', read);
	}, [open.isLoaded, ended]);
	const loadEarlier = () => open.loadEarlier().catch((error: Error) => showToast(sentenceOf(error), { isError: true }));
	useLayoutEffect(() => {
		const list = log.current;
		if (list && follows.current) list.scrollTop = list.scrollHeight;
	});
	return (
		<section class="inbox-conversation" aria-label={t.messages}>
			<ConversationHeader entry={entry} onChanged={onChanged} />
			<div
				class="inbox-log"
				ref={log}
				role="log"
				aria-label={t.messages}
				// biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
				tabIndex={0}
				onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
					follows.current = scrollHeight - scrollTop - clientHeight < FOLLOWS_PX;
				}}
			>
				{open.earlierCursor !== null && <Button onClick={() => void loadEarlier()}>{t.earlier}</Button>}
				{open.messages.map((message) => (
					<MessageView key={message.id} message={message} />
				))}
				{!open.isLoaded && !open.error && <LoadingLines />}
				{open.error && <ErrorState error={open.error} onRetry={() => open.retry()} />}
			</div>
			{!open.isConnected && open.isLoaded && (
				<p class="inbox-connection" role="status">
					{t.reconnecting}
				</p>
			)}
			<OtherPeople people={open.people} />
			{may('conversations:write') && (
				<ComposerModes
					key={id}
					conversation={conversation}
					onChanged={onChanged}
					onSent={(message) => {
						follows.current = true;
						open.add(message);
					}}
				/>
			)}
		</section>
	);
}

function ConversationHeader({ entry, onChanged }: { entry: InboxEntry; onChanged: () => void }) {
	const t = strings().inboxPages;
	const { conversation, waiting_since } = entry;
	const isHuman = conversation.handled_by === 'human';
	const isWriter = may('conversations:write');
	const run = async (action: Promise<boolean>) => {
		if (await action) onChanged();
	};
	const isShown = route.value.query.get('details') === '1';
	return (
		<header class="inbox-header">
			<a class="back" href={linkTo(['inbox'], Object.fromEntries(route.value.query))}>
				{t.back}
			</a>
			<div class="inbox-title">
				<h1 tabIndex={-1}>{conversation.title ?? t.untitled}</h1>
				<p class="soft">
					{visitorName(conversation)} · {isHuman ? t.byPerson : t.byModel}
					{waiting_since !== null && <Waiting since={waiting_since} />}
					{conversation.status === 'archived' && <Status tone="grey">{t.archived}</Status>}
				</p>
			</div>
			<div class="actions">
				{isWriter && isHuman && conversation.status === 'active' && (
					<Button onClick={() => void run(release(conversation.id))}>{t.release}</Button>
				)}
				{isWriter && (
					<Button onClick={() => void run(archiveOrReopen(conversation))}>
						{conversation.status === 'active' ? t.archive : t.reopen}
					</Button>
				)}
				<span class="details-button">
					<Button look="quiet" onClick={() => changeQuery({ details: isShown ? undefined : '1' })}>
						{t.details}
					</Button>
				</span>
			</div>
		</header>
	);
}
