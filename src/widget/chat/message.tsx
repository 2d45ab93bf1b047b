import type { Citation } from '../../contract/index.ts';
import type { Strings } from '../languages/strings.ts';
import { safeUrl } from '../text/safe-url.ts';
import { type Child, type Drawing, h } from './elements.ts';
import { Icon, IconButton } from './icons.tsx';
import { Link, richText } from './rich-text.tsx';
import type { ShownMessage } from './transcript.ts';

export interface MessageProps {
	message: ShownMessage;
	strings: Strings;
	rich: boolean;
	/** Whether what failed may be tried again now. */
	mayRetry: boolean;
	/** The source that is open. */
	open: number | undefined;
	/** The code that was copied a moment ago. */
	copiedText: string | null;
	onSource(id: string, number: number): void;
	onRetry(id: string): void;
	onCancel(id: string): void;
	onRate(id: string, rating: 'up' | 'down'): void;
	onCopy(text: string): void;
}

/** One message, with what can be done about it. */
export function Message(props: MessageProps): Drawing {
	const { message, strings, onSource } = props;
	const { id, role, author, status, content, citations, searching } = message;
	const mine = role === 'user';
	const writing = status === 'in_progress';
	const toggle = (number: number) => onSource(id, number);
	return (
		<div key={id} id={id || null} class={`message ${mine ? 'mine' : 'theirs'} ${status}`}>
			<span class={author.type === 'human' ? 'name' : 'unseen'}>
				{mine ? strings.you : (author.name ?? strings.assistant)}
			</span>
			{(content || writing) && (
				<div class="text">
					{mine ? (
						<p dir="auto">{content}</p>
					) : (
						richText({ ...props, content, cited: citations.map(({ index }) => index), onSource: toggle })
					)}
					{writing && (searching || !content) && waiting(strings, searching)}
				</div>
			)}
			{citations.length > 0 && sources(props, toggle)}
			{footer(props)}
		</div>
	);
}

function waiting(strings: Strings, searching: boolean): Drawing {
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

function sources(props: MessageProps, onToggle: (number: number) => void): Drawing {
	const { message, strings, open: shown } = props;
	const { citations } = message;
	const open = citations.find(({ index }) => index === shown);
	return (
		<div class="sources">
			<div class="chips" role="group" aria-label={strings.sources}>
				{citations.map(({ index, title }) => (
					<button type="button" class="chip" aria-expanded={index === shown} onClick={() => onToggle(index)}>
						<b>{index}</b> <span dir="auto">{title}</span>
					</button>
				))}
			</div>
			{open && source(open, props)}
		</div>
	);
}

/** What a reference leads to: where it is from, and the words themselves, which refer to nothing here. */
function source({ title, page, text, url, index }: Citation, props: MessageProps): Drawing {
	const { strings } = props;
	const href = url && safeUrl(url);
	return (
		<div class="source" role="group" aria-label={strings.source.replace('{n}', String(index))}>
			<p class="origin">
				<b dir="auto">{title}</b> {page !== null && <span>{strings.page.replace('{n}', String(page))}</span>}
			</p>
			<blockquote dir="auto" tabindex="0">
				{richText({ ...props, content: text, cited: [], onSource() {} })}
			</blockquote>
			{href && (
				<Link href={href}>
					{strings.openSource} <Icon shape="open" />
				</Link>
			)}
		</div>
	);
}

function footer({ message, strings, mayRetry, onRetry, onCancel, onRate }: MessageProps): Child {
	const { status, role, id, feedback, author } = message;
	if (status === 'waiting') {
		return (
			<p class="trouble">
				<span>{strings.waiting}</span>{' '}
				<button type="button" class="plain" onClick={() => onCancel(id)}>
					{strings.cancel}
				</button>
			</p>
		);
	}
	if (status === 'unsent' || status === 'failed') {
		return (
			<p class="trouble">
				<span>{strings[status]}</span>{' '}
				<button type="button" class="plain" disabled={!mayRetry} onClick={() => onRetry(id)}>
					{strings.retry}
				</button>
			</p>
		);
	}
	// A person is not rated, nor is the greeting.
	if (role === 'user' || status === 'in_progress' || author.type === 'human' || id === '') return null;
	const thumb = (rating: 'up' | 'down') => (
		<IconButton
			small
			shape={rating}
			label={strings[rating]}
			pressed={feedback === rating}
			onClick={() => onRate(id, rating)}
		/>
	);
	return (
		<div class="footer">
			{thumb('up')}
			{thumb('down')}
			{status === 'stopped' && <span class="aside">{strings.stopped}</span>}
		</div>
	);
}
