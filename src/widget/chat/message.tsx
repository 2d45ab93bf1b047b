import type { Strings } from '../languages/strings.ts';
import { nameOf } from './author-name.ts';
import { avatarInitial } from './header.tsx';
import { IconButton } from './icons.tsx';
import { richText } from './rich-text.tsx';
import { Sources } from './sources.tsx';
import type { DisplayedMessage } from './transcript.ts';
import { type Child, h, type VirtualNode } from './virtual-dom.ts';

export interface MessageProps {
	message: DisplayedMessage;
	strings: Strings;
	rich: boolean;
	/** Whether a failed message may be retried now. */
	mayRetry_: boolean;
	/** The previous message has the same author. */
	grouped: boolean;
	/** The formatted time. */
	time: string;
	/** The open source. */
	open: string | undefined;
	/** Text that was copied recently. */
	copiedText: string | null;
	onSource_(id: string, source: string): void;
	onRetry(id: string): void;
	onCancel_(id: string): void;
	onRate_(id: string, rating: 'up' | 'down'): void;
	onReason_(id: string, text: string): void;
	onCopy(text: string): void;
}

/** A greeting with more characters is shown as text, not as a title. */
const LONGEST_TITLE = 120;

/** A message with its actions. */
export function Message(props: MessageProps): VirtualNode {
	const { message, strings, grouped, onSource_ } = props;
	const { id, role, author, status, content, citations, toolRunning } = message;
	const isVisitors = role === 'user';
	const writing = status === 'in_progress';
	const classes = [
		'message',
		isVisitors ? 'mine' : 'theirs',
		status,
		id === '' && 'greeting',
		id === '' && content.length <= LONGEST_TITLE && 'title',
		author.type === 'human' && 'person',
		grouped && 'grouped',
	];
	const toggle = (source: string) => onSource_(id, source);
	return (
		<div key={id} id={id || null} class={classes.filter(Boolean).join(' ')}>
			<div class={author.type === 'human' && !grouped ? 'name' : 'unseen'}>
				{author.type === 'human' && avatarInitial(author.name ?? strings.person)}
				<span>{nameOf(message, strings)}</span>
			</div>
			{(content || writing) && (
				<div class="text">
					{isVisitors ? (
						<p dir="auto">{content}</p>
					) : (
						richText({ ...props, content, citedNumbers_: citations.map(({ index }) => index), onSource_: toggle })
					)}
					{writing && (toolRunning || !content) && writingIndicator(strings, toolRunning)}
				</div>
			)}
			{citations.length > 0 && <Sources {...props} citations={citations} onSource_={toggle} />}
			{footer(props)}
		</div>
	);
}

function writingIndicator(strings: Strings, searching: boolean): VirtualNode {
	return (
		<p class="waiting">
			<span class="dots" aria-hidden="true">
				<i />
				<i />
				<i />
			</span>
			<span class={searching ? '' : 'unseen'}>{searching ? strings.looking : strings.writing}</span>
		</p>
	);
}

function footer(props: MessageProps): Child {
	const { message, strings, mayRetry_, time, copiedText, onRetry, onCancel_, onRate_, onReason_, onCopy } = props;
	const { status, role, id, feedback, author, content } = message;
	if (status === 'waiting') {
		return (
			<p class="trouble">
				<span>{strings.waiting}</span>{' '}
				<button type="button" class="plain" onClick={() => onCancel_(id)}>
					{strings.cancel}
				</button>
			</p>
		);
	}
	if (status === 'unsent' || status === 'failed') {
		return (
			<p class="trouble">
				<span>{strings[status]}</span>{' '}
				<button type="button" class="plain" disabled={!mayRetry_} onClick={() => onRetry(id)}>
					{strings.retry}
				</button>
			</p>
		);
	}
	// The greeting and unsent messages have no time.
	const at = time && <time datetime={message.created_at}>{time}</time>;
	if (role === 'user' || author.type === 'human') return at;
	if (status === 'in_progress' || id === '') return null;
	const thumb = (rating: 'up' | 'down') => (
		<IconButton
			small
			shape={rating}
			label={strings[rating]}
			pressed={feedback === rating}
			onClick={() => onRate_(id, rating)}
		/>
	);
	const isCopied = copiedText === content;
	return (
		<div class="actions">
			<div class={feedback || status === 'stopped' ? 'footer kept' : 'footer'}>
				<IconButton
					small
					shape={isCopied ? 'done' : 'copy'}
					label={isCopied ? strings.copied : strings.copyAnswer}
					onClick={() => onCopy(content)}
				/>
				{thumb('up')}
				{thumb('down')}
				{status === 'stopped' && <span class="aside">{strings.stopped}</span>}
				{message.feedbackState_ && <span class="aside">{strings.thanks}</span>}
				{!message.feedbackState_ && at}
			</div>
			{message.feedbackState_ === 'ask' && reasonForm(strings, (text) => onReason_(id, text))}
		</div>
	);
}

/** The optional form for the reason of a rating. */
function reasonForm(strings: Strings, onReason_: (text: string) => void): VirtualNode {
	return (
		<form
			class="reason"
			onSubmit={(event: Event) => {
				event.preventDefault();
				const [field] = (event.currentTarget as HTMLFormElement).elements as unknown as [HTMLInputElement];
				if (field.value.trim()) onReason_(field.value.trim());
			}}
		>
			<input type="text" maxlength="2000" aria-label={strings.reason} placeholder={strings.reason} />
			<button type="submit" class="plain">
				{strings.submit}
			</button>
		</form>
	);
}
