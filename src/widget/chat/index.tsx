import { english, type Strings } from '../languages/strings.ts';
import { adopt } from '../page/style-sheets.ts';
import { parseMarkdown, plainText } from '../text/markdown.ts';
import css from './chat.css';
import type { Chat, ChatOptions } from './contract.ts';
import { coverPage, keepInside } from './cover-page.ts';
import { draw, h } from './elements.ts';
import { Panel } from './panel.tsx';
import { createSession, type Notice } from './session.ts';

/** Pixels from the end at which somebody still reads the end. */
const NEAR = 48;
const COPIED_MS = 2_000;
const TELL_MS = 150;

/** Makes the chat behind a button: what it knows is the session's, what is seen of it the panel's. */
export function createChat(options: ChatOptions): Chat {
	const { place, root, base, config, small, onClose, onUnread, emit } = options;
	const strings = options.strings ?? english;
	adopt(root, css);
	const sources = new Map<string, number>();
	let copied: string | null = null;
	let open = false;
	let said = '';
	let unread = 0;
	let timer = 0;
	let telling = 0;
	/** Whether the end is to stay in sight. */
	let atEnd = true;
	let uncover: (() => void) | null = null;

	const problem: Notice | null = options.problem && { says: sentenceFor(options.problem.status) };
	const session =
		config &&
		createSession({
			base,
			config,
			changed: () => soon(),
			heard(what) {
				if ('says' in what) return tell(what.says);
				const { content, author } = what.reply;
				say(`${author.name ?? strings.assistant}: ${plainText(parseMarkdown(content))}`);
				if (!open) onUnread(++unread);
			},
			emit,
		});

	const say = (text: string) => {
		// The same twice is only heard twice where something has changed.
		said = text === said ? `${text}\u00a0` : text;
		soon();
	};
	const tell = (says: keyof Strings) => say(strings[says].replace(/ ?\{n\} ?/, ' '));
	const log = () => place.querySelector('.log') as HTMLElement;
	/** Where one writes, or what else there is. */
	const focus = () => {
		const field = place.querySelector<HTMLTextAreaElement>('textarea:not([readonly])');
		(field ?? log()).focus({ preventScroll: true });
	};
	const send = (text: string) => {
		atEnd = true;
		session?.send(text);
	};

	const show = () => {
		clearTimeout(timer);
		timer = 0;
		const modal = open && small.matches;
		if (modal) uncover ??= coverPage(place);
		else {
			uncover?.();
			uncover = null;
		}
		const hadFocus = place.contains(root.activeElement);
		draw(place, [
			<Panel
				session={session}
				config={config}
				problem={problem}
				strings={strings}
				title={options.title ?? strings.title}
				open={open}
				modal={modal}
				sources={sources}
				copied={copied}
				onClose={onClose}
				onReload={options.onReload}
				onRestart={() => {
					session?.restart();
					show();
					focus();
				}}
				onSend={(text: string) => {
					send(text);
					// A suggestion is gone once it is taken; whoever uses the keyboard is not.
					focus();
				}}
				onEarlier={() => void earlier()}
				onSource={(id: string, number: number) => {
					if (sources.get(id) === number) sources.delete(id);
					else sources.set(id, number);
					atEnd = false;
					show();
					place.querySelector('.source')?.scrollIntoView({ block: 'nearest' });
				}}
				onCopy={copy}
				onScroll={() => {
					const { scrollHeight, scrollTop, clientHeight } = log();
					atEnd = scrollHeight - scrollTop - clientHeight < NEAR;
				}}
			/>,
			// Beside the panel: what happens while that is closed is heard too.
			<div class="unseen" aria-live="polite">
				{said}
			</div>,
		]);
		// What was focused may be gone, or of no use any more; whoever uses the keyboard is not.
		if (open && hadFocus && !root.activeElement?.matches(':enabled, a, [tabindex]')) focus();
		if (atEnd) log().scrollTop = log().scrollHeight;
		// A countdown counts.
		if (open && session?.notice()?.until) timer = setTimeout(show, 1000) as unknown as number;
	};
	/** Many changes of one moment are drawn once; a page that is not seen is drawn too, for those who listen. */
	const soon = () => {
		clearTimeout(timer);
		timer = setTimeout(show, 16) as unknown as number;
	};

	const earlier = async () => {
		const fromEnd = log().scrollHeight - log().scrollTop;
		atEnd = false;
		await session?.earlier();
		show();
		log().scrollTop = log().scrollHeight - fromEnd;
		log().focus({ preventScroll: true });
	};

	const copy = async (text: string) => {
		try {
			await navigator.clipboard.writeText(text);
		} catch {
			return say(strings.trouble);
		}
		copied = text;
		say(strings.copied);
		setTimeout(() => {
			copied = null;
			soon();
		}, COPIED_MS);
	};

	const onKey = (event: KeyboardEvent) => {
		// Escape also ends what an input method composes; that is not for us.
		if (event.key === 'Escape' && !event.isComposing && event.keyCode !== 229) onClose();
		else if (event.key === 'Tab' && uncover) keepInside(event, place);
		// What is typed here is no shortcut of the page's.
		event.stopPropagation();
	};
	place.addEventListener('keydown', onKey);
	small.addEventListener('change', soon);

	return {
		show(wanted, takeFocus) {
			open = wanted;
			if (open) {
				unread = 0;
				onUnread(0);
			}
			session?.look(open);
			show();
			clearTimeout(telling);
			const notice = problem ?? session?.notice();
			// A moment later: what is there when a region comes is not read, what comes into it is.
			if (notice && open) telling = setTimeout(() => tell(notice.says), TELL_MS) as unknown as number;
			if (open && takeFocus) focus();
		},
		send,
		identify: (jwt) => session?.identify(jwt),
		destroy() {
			clearTimeout(timer);
			clearTimeout(telling);
			session?.destroy();
			uncover?.();
			place.removeEventListener('keydown', onKey);
			small.removeEventListener('change', soon);
			draw(place, []);
		},
	};
}

function sentenceFor(status: number): Notice['says'] {
	return status === 403 ? 'forbidden' : status === 404 ? 'gone' : 'trouble';
}
