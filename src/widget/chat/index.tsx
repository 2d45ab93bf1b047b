import type { Strings } from '../languages/strings.ts';
import { styleSheet } from '../page/style-sheets.ts';
import { parseMarkdown, plainText } from '../text/markdown.ts';
import css from './chat.css';
import type { Chat, ChatOptions } from './chat-module.ts';
import { closeOnBack } from './close-on-back.ts';
import { autoSize } from './composer.tsx';
import { coverPage, trapFocus } from './cover-page.ts';
import { draft } from './draft.ts';
import type { Notice } from './notices.ts';
import { noticeText, Panel } from './panel.tsx';
import { saveTranscript } from './save-transcript.ts';
import { createSession } from './session.ts';
import { createTimeFormatter } from './time-formatter.ts';
import { h, render } from './virtual-dom.ts';

/** Pixels from the end at which somebody still reads the end. */
const END_TOLERANCE_PX = 48;
const COPIED_MS = 2_000;
const ANNOUNCE_DELAY_MS = 150;
const sheet = styleSheet(css);
/** What is typed here is no shortcut of the page's, and none of its business. */
const CAPTURED_EVENTS = ['keydown', 'keypress', 'keyup', 'beforeinput', 'input'];

/** Makes the chat behind a button: what it knows is the session's, what is seen of it the panel's. */
export function createChat(options: ChatOptions): Chat {
	const { container, root, base, config, strings, smallScreen, onClose, onUnread, emit } = options;
	const lifetime = new AbortController();
	const { signal } = lifetime;
	// The chat before this one may have brought it.
	if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
	const openSources = new Map<string, string>();
	let copiedText: string | null = null;
	let open = false;
	let announcement = '';
	/** Of what is said, and not drawn yet, there is a reply: it is not to be lost. */
	let hasUndrawnReply = false;
	let unread = 0;
	let timer = 0;
	let announceTimer = 0;
	/** Whether the end is to stay in sight. */
	let sticksToEnd = true;
	let uncover: (() => void) | null = null;
	let backHandler: ReturnType<typeof closeOnBack> | null = null;
	let menuOpen = false;
	let hasLogo: boolean | null = null;
	/** The message whose end the visitor has scrolled to: its first line need not stay in sight. */
	let readMessageId: string | undefined;
	/** Where the log was scrolled to by the chat itself. */
	let scrolledTo = -1;
	const name = options.title ?? config?.appearance.assistant_name;
	const formatTime = createTimeFormatter(options.language);

	const problem: Notice | null = options.problem && { stringKey: problemStringKey(options.problem.status) };
	const session =
		config &&
		createSession({
			base,
			config,
			humanExpected: options.humanExpected,
			onHumanExpected: options.onHumanExpected,
			onChanged: () => scheduleRender(),
			announce({ stringKey, reply }) {
				if (stringKey) announceNotice(stringKey);
				if (!reply) return;
				const { content, author } = reply;
				announce(`${author.name ?? strings.assistant}: ${plainText(parseMarkdown(content))}`);
				hasUndrawnReply = true;
				if (!open) onUnread(++unread);
			},
			emit,
		});

	const announce = (text: string) => {
		// The same twice is only heard twice where something has changed.
		announcement = hasUndrawnReply ? `${announcement}\n${text}` : text === announcement ? `${text}\u00a0` : text;
		scheduleRender();
	};
	const announceNotice = (stringKey: keyof Strings) =>
		announce(noticeText(strings, { ...session?.notice(), stringKey }));
	const log = () => container.querySelector('.log') as HTMLElement;
	/** Where one writes, or what else there is. */
	const focus = () => {
		const field = container.querySelector<HTMLTextAreaElement>('textarea:not([readonly])');
		(field ?? log()).focus({ preventScroll: true });
	};
	/** Puts into the field what it should have instead. */
	const write = (text: string) => {
		const field = container.querySelector('textarea') as HTMLTextAreaElement;
		field.value = text;
		saveDraft(text);
		autoSize(field);
	};
	const saveDraft = (text: string) => {
		if (session) draft.set(session.storageKey_(), text);
	};
	const send = (text: string) => {
		sticksToEnd = true;
		return session?.send(text) ?? false;
	};

	const rerender = () => {
		clearTimeout(timer);
		timer = 0;
		const modal = open && smallScreen.matches;
		if (modal) {
			uncover ??= coverPage(container);
			backHandler ??= closeOnBack(onClose);
		} else {
			uncover?.();
			uncover = null;
			backHandler?.end();
			backHandler = null;
		}
		const hadFocus = container.contains(root.activeElement);
		render(container, [
			<Panel
				session={session}
				config={config}
				problem={problem}
				strings={strings}
				title={name ?? strings.title}
				isNamed={Boolean(name)}
				menuOpen={menuOpen}
				hasLogo={hasLogo}
				time={formatTime}
				onLogo={(isLoaded: boolean) => {
					hasLogo = isLoaded;
					scheduleRender();
				}}
				onMenu={() => {
					menuOpen = !menuOpen;
					rerender();
				}}
				open={open}
				modal={modal}
				openSources={openSources}
				copiedText={copiedText}
				onClose={closeByVisitor}
				onReload={options.onReload}
				onRestart={() => {
					menuOpen = false;
					const unsent = session?.startNewConversation_() ?? [];
					rerender();
					if (unsent.length) write([...unsent, container.querySelector('textarea')?.value].join('\n').trim());
					focus();
				}}
				onTranscript={() => void transcript()}
				onSend={(text: string) => {
					const isTaken = send(text);
					// A suggestion is gone once it is taken; whoever uses the keyboard is not.
					focus();
					return isTaken;
				}}
				onDraft={saveDraft}
				onCancel={(id: string) => {
					const text = session?.cancelMessage_(id);
					if (text && !container.querySelector('textarea')?.value) write(text);
					focus();
				}}
				onEarlier={() => void loadEarlier()}
				onSource={(id: string, source: string) => {
					if (openSources.get(id) === source) openSources.delete(id);
					else openSources.set(id, source);
					sticksToEnd = false;
					rerender();
					root.getElementById(id)?.querySelector('.document')?.scrollIntoView({ block: 'nearest' });
				}}
				onCopy={copy}
				onScroll={() => {
					const { scrollHeight, scrollTop, clientHeight } = log();
					// Only where the visitor has scrolled.
					if (Math.abs(scrollTop - scrolledTo) < 2) return;
					scrolledTo = -1;
					sticksToEnd = scrollHeight - scrollTop - clientHeight < END_TOLERANCE_PX;
					readMessageId = sticksToEnd ? session?.messages_().at(-1)?.id : undefined;
				}}
			/>,
			// Beside the panel: what happens while that is closed is heard too.
			<div class="unseen" aria-live="polite">
				{announcement}
			</div>,
		]);
		hasUndrawnReply = false;
		// What was focused may be gone, or of no use any more; whoever uses the keyboard is not.
		if (open && hadFocus && !root.activeElement?.matches(':enabled, a, [tabindex]')) focus();
		// One that is empty is seen from its beginning.
		if (sticksToEnd && session?.messages_().length) keepEndInSight();
		// A countdown counts.
		if (open && session?.notice()?.until) timer = setTimeout(rerender, 1000) as unknown as number;
	};
	/**
	 * Keeps the end in sight, but never at the cost of the first line of an answer, with the end of what was asked above it.
	 * Never goes back: a visitor who has read on is not moved.
	 */
	const keepEndInSight = () => {
		const container = log();
		const last = [...container.querySelectorAll<HTMLElement>('.message')].pop();
		const end = container.scrollHeight - container.clientHeight;
		const first = last?.matches('.theirs') && last.id !== readMessageId ? last.offsetTop - END_TOLERANCE_PX : end;
		container.scrollTop = Math.min(end, Math.max(container.scrollTop, first));
		scrolledTo = container.scrollTop;
	};
	/** The visitor closes the chat. */
	const closeByVisitor = () => {
		backHandler?.leave();
		backHandler = null;
		onClose();
	};
	/** Many changes of one moment are drawn once; a page that is not seen is drawn too, for those who listen. */
	const scheduleRender = () => {
		clearTimeout(timer);
		if (!signal.aborted) timer = setTimeout(rerender, 16) as unknown as number;
	};

	const loadEarlier = async () => {
		const fromEnd = log().scrollHeight - log().scrollTop;
		sticksToEnd = false;
		await session?.loadOlder_();
		rerender();
		log().scrollTop = log().scrollHeight - fromEnd;
		log().focus({ preventScroll: true });
	};

	/** Loads all of the conversation, and gives it to the visitor as a file. */
	const transcript = async () => {
		if (!session) return;
		menuOpen = false;
		rerender();
		focus();
		for (let before = -1; session.hasOlder_() && before < session.messages_().length; ) {
			before = session.messages_().length;
			await session.loadOlder_();
		}
		// Where the rest cannot be loaded the visitor has been told so.
		if (!session.hasOlder_()) saveTranscript(session.messages_(), name ?? strings.title, strings);
	};

	const copy = async (text: string) => {
		try {
			await navigator.clipboard.writeText(text);
		} catch {
			return announce(strings.trouble);
		}
		copiedText = text;
		announce(strings.copied);
		setTimeout(() => {
			copiedText = null;
			scheduleRender();
		}, COPIED_MS);
	};

	/** What is pressed or focused elsewhere closes the menu. */
	const onOutsideInteraction = (event: Event) => {
		if (!menuOpen || (event.target as Element).closest?.('.header')) return;
		menuOpen = false;
		scheduleRender();
	};
	container.addEventListener('pointerdown', onOutsideInteraction, { signal });
	container.addEventListener('focusin', onOutsideInteraction, { signal });
	const onKey = (event: KeyboardEvent) => {
		// Escape also ends what an input method composes; that is not for us.
		if (event.key === 'Escape' && !event.isComposing && event.keyCode !== 229) {
			if (!menuOpen) return closeByVisitor();
			menuOpen = false;
			rerender();
			container.querySelector<HTMLElement>('[aria-expanded]')?.focus();
		} else if (event.key === 'Tab' && uncover) trapFocus(event, container);
	};
	container.addEventListener('keydown', onKey, { signal });
	for (const type of CAPTURED_EVENTS) container.addEventListener(type, (event) => event.stopPropagation(), { signal });
	smallScreen.addEventListener('change', scheduleRender, { signal });

	return {
		show(wanted, takeFocus) {
			open = wanted;
			menuOpen = false;
			if (open) {
				unread = 0;
				onUnread(0);
			}
			session?.setVisible_(open);
			rerender();
			if (open && session && !container.querySelector('textarea')?.value) write(draft.get(session.storageKey_()));
			clearTimeout(announceTimer);
			const notice = problem ?? session?.notice();
			// A moment later: what is there when a region comes is not read, what comes into it is.
			if (notice && open)
				announceTimer = setTimeout(() => announceNotice(notice.stringKey), ANNOUNCE_DELAY_MS) as unknown as number;
			if (open && takeFocus) focus();
		},
		send(text) {
			if (!send(text)) emit('error', { status: 0, code: 'queue_full' });
		},
		identify(jwt) {
			if (!session?.identify_(jwt)) return;
			// What one person wrote and was told is not for the next one.
			hasUndrawnReply = false;
			announcement = '';
			copiedText = null;
			rerender();
			write(draft.get(session.storageKey_()));
		},
		destroy() {
			lifetime.abort();
			clearTimeout(timer);
			clearTimeout(announceTimer);
			session?.destroy();
			uncover?.();
			backHandler?.end();
			render(container, []);
		},
	};
}

function problemStringKey(status: number): keyof Strings {
	return status === 403 ? 'forbidden' : status === 404 ? 'gone' : 'trouble';
}
