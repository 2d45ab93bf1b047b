import type { Strings } from '../languages/strings.ts';
import { styleSheet } from '../page/style-sheets.ts';
import { parseMarkdown, plainText } from '../text/markdown.ts';
import { closeByBack } from './back.ts';
import css from './chat.css';
import { createClock } from './clock.ts';
import { fit } from './composer.tsx';
import type { Chat, ChatOptions } from './contract.ts';
import { coverPage, keepInside } from './cover-page.ts';
import { draft } from './draft.ts';
import { draw, h } from './elements.ts';
import type { Notice } from './notices.ts';
import { Panel, wording } from './panel.tsx';
import { saveTranscript } from './save-transcript.ts';
import { createSession } from './session.ts';

/** Pixels from the end at which somebody still reads the end. */
const NEAR = 48;
const COPIED_MS = 2_000;
const TELL_MS = 150;
const sheet = styleSheet(css);
/** What is typed here is no shortcut of the page's, and none of its business. */
const KEPT = ['keydown', 'keypress', 'keyup', 'beforeinput', 'input'];

/** Makes the chat behind a button: what it knows is the session's, what is seen of it the panel's. */
export function createChat(options: ChatOptions): Chat {
	const { place, root, base, config, strings, small, onClose, onUnread, emit } = options;
	const life = new AbortController();
	const { signal } = life;
	// The chat before this one may have brought it.
	if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
	const openSources = new Map<string, string>();
	let copiedText: string | null = null;
	let open = false;
	let said = '';
	/** Of what is said, and not drawn yet, there is a reply: it is not to be lost. */
	let isKept = false;
	let unread = 0;
	let timer = 0;
	let telling = 0;
	/** Whether the end is to stay in sight. */
	let atEnd = true;
	let uncover: (() => void) | null = null;
	let back: ReturnType<typeof closeByBack> | null = null;
	let menuOpen = false;
	let hasLogo: boolean | null = null;
	/** The message whose end the visitor has scrolled to: its first line need not stay in sight. */
	let readToEnd: string | undefined;
	/** Where the log was scrolled to by the chat itself. */
	let scrolledTo = -1;
	const name = options.title ?? config?.appearance.assistant_name;
	const clock = createClock(options.language);

	const problem: Notice | null = options.problem && { says: sentenceFor(options.problem.status) };
	const session =
		config &&
		createSession({
			base,
			config,
			expected: options.expected,
			onExpected: options.onExpected,
			changed: () => soon(),
			heard({ says, reply }) {
				if (says) tell(says);
				if (!reply) return;
				const { content, author } = reply;
				say(`${author.name ?? strings.assistant}: ${plainText(parseMarkdown(content))}`);
				isKept = true;
				if (!open) onUnread(++unread);
			},
			emit,
		});

	const say = (text: string) => {
		// The same twice is only heard twice where something has changed.
		said = isKept ? `${said}\n${text}` : text === said ? `${text}\u00a0` : text;
		soon();
	};
	const tell = (says: keyof Strings) => say(wording(strings, { ...session?.notice(), says }));
	const log = () => place.querySelector('.log') as HTMLElement;
	/** Where one writes, or what else there is. */
	const focus = () => {
		const field = place.querySelector<HTMLTextAreaElement>('textarea:not([readonly])');
		(field ?? log()).focus({ preventScroll: true });
	};
	/** Puts into the field what it should have instead. */
	const write = (text: string) => {
		const field = place.querySelector('textarea') as HTMLTextAreaElement;
		field.value = text;
		keepDraft(text);
		fit(field);
	};
	const keepDraft = (text: string) => {
		if (session) draft.set(session.memoryName(), text);
	};
	const send = (text: string) => {
		atEnd = true;
		return session?.send(text) ?? false;
	};

	const show = () => {
		clearTimeout(timer);
		timer = 0;
		const modal = open && small.matches;
		if (modal) {
			uncover ??= coverPage(place);
			back ??= closeByBack(onClose);
		} else {
			uncover?.();
			uncover = null;
			back?.end();
			back = null;
		}
		const hadFocus = place.contains(root.activeElement);
		draw(place, [
			<Panel
				session={session}
				config={config}
				problem={problem}
				strings={strings}
				title={name ?? strings.title}
				isNamed={Boolean(name)}
				menuOpen={menuOpen}
				hasLogo={hasLogo}
				time={clock}
				onLogo={(isLoaded: boolean) => {
					hasLogo = isLoaded;
					soon();
				}}
				onMenu={() => {
					menuOpen = !menuOpen;
					show();
				}}
				open={open}
				modal={modal}
				openSources={openSources}
				copiedText={copiedText}
				onClose={leave}
				onReload={options.onReload}
				onRestart={() => {
					menuOpen = false;
					const unsent = session?.startAnew() ?? [];
					show();
					if (unsent.length) write([...unsent, place.querySelector('textarea')?.value].join('\n').trim());
					focus();
				}}
				onTranscript={() => void transcript()}
				onSend={(text: string) => {
					const isTaken = send(text);
					// A suggestion is gone once it is taken; whoever uses the keyboard is not.
					focus();
					return isTaken;
				}}
				onDraft={keepDraft}
				onCancel={(id: string) => {
					const text = session?.cancelMessage(id);
					if (text && !place.querySelector('textarea')?.value) write(text);
					focus();
				}}
				onEarlier={() => void earlier()}
				onSource={(id: string, source: string) => {
					if (openSources.get(id) === source) openSources.delete(id);
					else openSources.set(id, source);
					atEnd = false;
					show();
					root.getElementById(id)?.querySelector('.document')?.scrollIntoView({ block: 'nearest' });
				}}
				onCopy={copy}
				onScroll={() => {
					const { scrollHeight, scrollTop, clientHeight } = log();
					// Only where the visitor has scrolled.
					if (Math.abs(scrollTop - scrolledTo) < 2) return;
					scrolledTo = -1;
					atEnd = scrollHeight - scrollTop - clientHeight < NEAR;
					readToEnd = atEnd ? session?.messages().at(-1)?.id : undefined;
				}}
			/>,
			// Beside the panel: what happens while that is closed is heard too.
			<div class="unseen" aria-live="polite">
				{said}
			</div>,
		]);
		isKept = false;
		// What was focused may be gone, or of no use any more; whoever uses the keyboard is not.
		if (open && hadFocus && !root.activeElement?.matches(':enabled, a, [tabindex]')) focus();
		// One that is empty is seen from its beginning.
		if (atEnd && session?.messages().length) follow();
		// A countdown counts.
		if (open && session?.notice()?.until) timer = setTimeout(show, 1000) as unknown as number;
	};
	/**
	 * Keeps the end in sight, but never at the cost of the first line of an answer, with the end of what was asked above it.
	 * Never goes back: a visitor who has read on is not moved.
	 */
	const follow = () => {
		const place = log();
		const last = [...place.querySelectorAll<HTMLElement>('.message')].pop();
		const end = place.scrollHeight - place.clientHeight;
		const first = last?.matches('.theirs') && last.id !== readToEnd ? last.offsetTop - NEAR : end;
		place.scrollTop = Math.min(end, Math.max(place.scrollTop, first));
		scrolledTo = place.scrollTop;
	};
	/** The visitor closes the chat. */
	const leave = () => {
		back?.leave();
		back = null;
		onClose();
	};
	/** Many changes of one moment are drawn once; a page that is not seen is drawn too, for those who listen. */
	const soon = () => {
		clearTimeout(timer);
		if (!signal.aborted) timer = setTimeout(show, 16) as unknown as number;
	};

	const earlier = async () => {
		const fromEnd = log().scrollHeight - log().scrollTop;
		atEnd = false;
		await session?.loadOlder();
		show();
		log().scrollTop = log().scrollHeight - fromEnd;
		log().focus({ preventScroll: true });
	};

	/** Loads all of the conversation, and gives it to the visitor as a file. */
	const transcript = async () => {
		if (!session) return;
		menuOpen = false;
		show();
		focus();
		for (let before = -1; session.hasOlder() && before < session.messages().length; ) {
			before = session.messages().length;
			await session.loadOlder();
		}
		// Where the rest cannot be loaded the visitor has been told so.
		if (!session.hasOlder()) saveTranscript(session.messages(), name ?? strings.title, strings);
	};

	const copy = async (text: string) => {
		try {
			await navigator.clipboard.writeText(text);
		} catch {
			return say(strings.trouble);
		}
		copiedText = text;
		say(strings.copied);
		setTimeout(() => {
			copiedText = null;
			soon();
		}, COPIED_MS);
	};

	/** What is pressed or focused elsewhere closes the menu. */
	const onElsewhere = (event: Event) => {
		if (!menuOpen || (event.target as Element).closest?.('.header')) return;
		menuOpen = false;
		soon();
	};
	place.addEventListener('pointerdown', onElsewhere, { signal });
	place.addEventListener('focusin', onElsewhere, { signal });
	const onKey = (event: KeyboardEvent) => {
		// Escape also ends what an input method composes; that is not for us.
		if (event.key === 'Escape' && !event.isComposing && event.keyCode !== 229) {
			if (!menuOpen) return leave();
			menuOpen = false;
			show();
			place.querySelector<HTMLElement>('[aria-expanded]')?.focus();
		} else if (event.key === 'Tab' && uncover) keepInside(event, place);
	};
	place.addEventListener('keydown', onKey, { signal });
	for (const type of KEPT) place.addEventListener(type, (event) => event.stopPropagation(), { signal });
	small.addEventListener('change', soon, { signal });

	return {
		show(wanted, takeFocus) {
			open = wanted;
			menuOpen = false;
			if (open) {
				unread = 0;
				onUnread(0);
			}
			session?.look(open);
			show();
			if (open && session && !place.querySelector('textarea')?.value) write(draft.get(session.memoryName()));
			clearTimeout(telling);
			const notice = problem ?? session?.notice();
			// A moment later: what is there when a region comes is not read, what comes into it is.
			if (notice && open) telling = setTimeout(() => tell(notice.says), TELL_MS) as unknown as number;
			if (open && takeFocus) focus();
		},
		send(text) {
			if (!send(text)) emit('error', { status: 0, code: 'queue_full' });
		},
		identify(jwt) {
			if (!session?.identify(jwt)) return;
			// What one person wrote and was told is not for the next one.
			isKept = false;
			said = '';
			copiedText = null;
			show();
			write(draft.get(session.memoryName()));
		},
		destroy() {
			life.abort();
			clearTimeout(timer);
			clearTimeout(telling);
			session?.destroy();
			uncover?.();
			back?.end();
			draw(place, []);
		},
	};
}

function sentenceFor(status: number): keyof Strings {
	return status === 403 ? 'forbidden' : status === 404 ? 'gone' : 'trouble';
}
