import type { WidgetConfig } from '../../contract/index.ts';
import type { Strings } from '../languages/strings.ts';
import { Composer } from './composer.tsx';
import { Header } from './header.tsx';
import { Message } from './message.tsx';
import type { Notice } from './notices.ts';
import { concernsPerson } from './person-loader.ts';
import type { Session } from './session.ts';
import { type DisplayedMessage, LOCAL_TIME, localMessage } from './transcript.ts';
import { type Child, h, type VirtualNode } from './virtual-dom.ts';

export interface PanelProps {
	/** Null: the configuration could not be loaded. `problem` says why. */
	session: Session | null;
	config: WidgetConfig | null;
	problem: Notice | null;
	strings: Strings;
	title: string;
	isNamed_: boolean;
	menuOpen_: boolean;
	/** Null: the logo is loading. */
	hasLogo_: boolean | null;
	open: boolean;
	/** The chat covers the page, which is inert. */
	modal: boolean;
	/** The open source of each message. */
	openSources_: ReadonlyMap<string, string>;
	copiedText: string | null;
	/** Formats an ISO 8601 timestamp in the visitor's language. */
	time(at: string): string;
	onLogo_(isLoaded: boolean): void;
	onMenu_(): void;
	onClose(): void;
	onReload(): void;
	onRestart_(): void;
	/** The visitor downloads the conversation. */
	onTranscript_(): void;
	/** @returns false if it cannot be sent: then it stays in the field */
	onSend(text: string): boolean;
	/** The visitor asks for a person. */
	onTalk_(): void;
	/** The text in the field has changed. */
	onDraft_(text: string): void;
	onCancel_(id: string): void;
	onEarlier_(): void;
	onSource_(id: string, source: string): void;
	onCopy(text: string): void;
	onScroll(event: Event): void;
}

/** Rendered messages and the values they were rendered from, so that each word of a reply renders one message only. */
const renderCache = new WeakMap<DisplayedMessage, { from: readonly unknown[]; drawing: VirtualNode }>();

/** The visible chat. */
export function Panel(props: PanelProps): VirtualNode {
	const { session, strings, title, open, modal, problem } = props;
	const notice = problem ?? session?.notice() ?? null;
	return (
		<div class="panel" role="dialog" aria-modal={modal} aria-label={title} aria-describedby="status" hidden={!open}>
			<Header {...props} messages={session?.messages_() ?? []} mayTalk_={mayTalk(props)} />
			<div
				class={session?.messages_().length === 0 ? 'log first' : 'log'}
				role="log"
				aria-live="off"
				aria-label={strings.log}
				tabindex="0"
				onScroll={props.onScroll}
			>
				{session ? renderMessages(session, props) : notice && renderNotice(notice, props)}
			</div>
			{session && notice && renderNotice(notice, props)}
			<div key="people" class="people" />
			<Composer
				strings={strings}
				disabled={!session || session.isBlocked_()}
				busy={session?.isBusy() ?? false}
				paused={notice?.stringKey === 'limited' || notice?.stringKey === 'full'}
				onSend={props.onSend}
				onDraft_={props.onDraft_}
				onStop={() => void session?.stopReply_()}
			/>
		</div>
	);
}

function renderMessages(session: Session, props: PanelProps): Child {
	const { strings, config, openSources_, copiedText, onCopy, onSource_, onSend, onEarlier_ } = props;
	const { appearance, features } = config as WidgetConfig;
	const isPaused = session.notice()?.stringKey === 'limited';
	const mayRetry_ = !session.isBusy() && !session.isBlocked_() && !isPaused;
	const list = session.messages_();
	const renderMessage = (message: DisplayedMessage, index = 0) => {
		const previous = list[index - 1];
		const grouped = previous?.author.type === message.author.type && previous.author.name === message.author.name;
		const open = openSources_.get(message.id);
		const time = message.created_at < LOCAL_TIME ? props.time(message.created_at) : '';
		const from = [strings, mayRetry_, open, copiedText, grouped, time, features.rich_content];
		const cached = renderCache.get(message);
		if (cached && from.every((value, index) => value === cached.from[index])) return cached.drawing;
		const drawing = (
			<Message
				message={message}
				strings={strings}
				rich={features.rich_content}
				mayRetry_={mayRetry_}
				grouped={grouped}
				time={time}
				open={open}
				copiedText={copiedText}
				onSource_={onSource_}
				onCancel_={props.onCancel_}
				onRetry={(id: string) => session.retryMessage_(id)}
				onRate_={(id: string, rating: 'up' | 'down') => void session.rateReply_(id, rating)}
				onReason_={(id: string, text: string) => void session.giveReason_(id, text)}
				onCopy={onCopy}
			/>
		);
		renderCache.set(message, { from, drawing });
		return drawing;
	};
	const mayAskForPerson = mayTalk(props) && !session.isBusy() && isUnanswered(list);
	const suggestions = list.length === 0 ? appearance.suggested_questions : mayAskForPerson ? [strings.talk] : [];
	if (session.isLoading_() && list.length === 0) return <p class="aside">{strings.loading}</p>;
	return [
		session.hasOlder_() ? (
			<button type="button" class="plain earlier" onClick={onEarlier_}>
				{strings.earlier}
			</button>
		) : (
			// The greeting is rendered as a message but is not stored.
			appearance.greeting.trim() && renderMessage(localMessage('', 'assistant', appearance.greeting, 'completed'))
		),
		list.map((message, index) => renderMessage(message, index)),
		!session.isBlocked_() && suggestions[0] && (
			<div class="suggestions">
				{suggestions.map((text) => (
					<button
						type="button"
						dir="auto"
						disabled={isPaused}
						onClick={() => (mayAskForPerson ? props.onTalk_() : onSend(text))}
					>
						{text}
					</button>
				))}
			</div>
		),
	];
}

/** Whether the visitor may ask for a person and has not done so. */
export function mayTalk({ config, session }: Pick<PanelProps, 'config' | 'session'>): boolean {
	return Boolean(config?.features.handoff && !concernsPerson(session?.people_()));
}

/** Whether the last message is the model's, and it cites no document or the visitor has rated it down. */
function isUnanswered(list: readonly DisplayedMessage[]): boolean {
	const last = list.at(-1);
	return last?.author.type === 'model' && (!last.citations[0] || last.feedback === 'down');
}

/** The text of a notice, with its remaining seconds. */
export function noticeText(strings: Strings, { stringKey, until = 0 }: Notice): string {
	return strings[stringKey].replace('{n}', String(Math.max(1, Math.ceil((until - Date.now()) / 1000))));
}

function renderNotice(notice: Notice, { strings, problem, onReload, onRestart_ }: PanelProps): VirtualNode {
	const { stringKey } = notice;
	const act = stringKey === 'closed' ? onRestart_ : problem?.stringKey === 'trouble' ? onReload : null;
	return (
		<div class="notice">
			<p>{noticeText(strings, notice)}</p>
			{act && (
				<button type="button" class="plain" onClick={act}>
					{stringKey === 'closed' ? strings.restart : strings.retry}
				</button>
			)}
		</div>
	);
}
