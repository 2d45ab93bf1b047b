import { parseMarkdown, plainText } from '../../markdown/index.ts';
import type { Strings } from '../languages/strings.ts';
import { styleSheet } from '../page/style-sheets.ts';
import css from './chat.css';
import type { Chat, ChatOptions, LoadPart } from './chat-module.ts';
import { closeOnBack } from './close-on-back.ts';
import { autoSize } from './composer.tsx';
import { coverPage, trapFocus } from './cover-page.ts';
import { draft } from './draft.ts';
import type { Notice } from './notices.ts';
import { noticeText, Panel } from './panel.tsx';
import { createPersonLoader } from './person-loader.ts';
import { createSession, type Session } from './session.ts';
import { createTimeFormatter } from './time-formatter.ts';
import { h, render } from './virtual-dom.ts';

/** Within this distance from the end, in pixels, the log follows new messages. */
const END_TOLERANCE_PX = 48;
const COPIED_MS = 2_000;
const ANNOUNCE_DELAY_MS = 150;
const plain = (markdown: string) => plainText(parseMarkdown(markdown));
const sheet = styleSheet(css);
/** Events that do not reach the page: typing must not trigger its shortcuts, and the page must not read it. */
const CAPTURED_EVENTS = ['keydown', 'keypress', 'keyup', 'beforeinput', 'input'];

/** Creates the chat behind a button. The session has the state, the panel renders it. */
export function createChat(options: ChatOptions): Chat {
	const { container, root, base, strings, smallScreen, onClose, onUnread, emit } = options;
	const lifetime = new AbortController();
	const { signal } = lifetime;
	// A previous chat may have added it.
	if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
	let { config } = options;
	const openSources = new Map<string, string>();
	let copiedText: string | null = null;
	let open = false;
	let announcement = '';
	/** The announcement has a reply that is not rendered yet and must not be replaced. */
	let hasUndrawnReply = false;
	let unread = 0;
	let timer = 0;
	let announceTimer = 0;
	/** Whether the log follows new messages. */
	let sticksToEnd = true;
	let uncover: (() => void) | null = null;
	let backHandler: ReturnType<typeof closeOnBack> | null = null;
	let menuOpen = false;
	let hasLogo: boolean | null = null;
	/** The message whose end the visitor has scrolled to: its first line need not stay visible. */
	let readMessageId: string | undefined;
	/** The scroll position that the chat itself has set. */
	let scrolledTo = -1;
	const name = () => options.title ?? config?.appearance.assistant_name;
	const formatTime = createTimeFormatter(options.language);

	const problem: Notice | null = options.problem && { stringKey: problemStringKey(options.problem.status) };
	const session =
		config &&
		createSession({
			base,
			config,
			fetch: options.fetch,
			humanExpected: options.humanExpected,
			onHumanExpected: options.onHumanExpected,
			onChanged: () => scheduleRender(),
			announce({ stringKey, reply }) {
				if (stringKey) announceNotice(stringKey);
				if (!reply) return;
				const { content, author } = reply;
				announce(`${author.name ?? strings.assistant}: ${plain(content)}`);
				hasUndrawnReply = true;
				if (!open) onUnread(++unread);
			},
			emit,
		});

	const announce = (text: string) => {
		// A screen reader repeats a text only if it has changed.
		announcement = hasUndrawnReply ? `${announcement}\n${text}` : text === announcement ? `${text}\u00a0` : text;
		scheduleRender();
	};
	const updatePerson = createPersonLoader({
		...options,
		request: (change) => (session as Session).requestPerson_(change),
		announce,
		onChanged: () => scheduleRender(),
	});
	const announceNotice = (stringKey: keyof Strings) =>
		announce(noticeText(strings, { ...session?.notice(), stringKey }));
	const log = () => container.querySelector('.log') as HTMLElement;
	/** Focuses the field, or the log if the field is read-only. */
	const focus = () => {
		const field = container.querySelector<HTMLTextAreaElement>('textarea:not([readonly])');
		(field ?? log()).focus({ preventScroll: true });
	};
	/** Replaces the text of the field. */
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
				title={name() ?? strings.title}
				isNamed_={Boolean(name())}
				menuOpen_={menuOpen}
				hasLogo_={hasLogo}
				time={formatTime}
				onLogo_={(isLoaded: boolean) => {
					hasLogo = isLoaded;
					scheduleRender();
				}}
				onMenu_={() => {
					menuOpen = !menuOpen;
					rerender();
				}}
				open={open}
				modal={modal}
				openSources_={openSources}
				copiedText={copiedText}
				onClose={closeByVisitor}
				onReload={options.onReload}
				onRestart_={() => {
					menuOpen = false;
					const unsent = session?.startNewConversation_() ?? [];
					rerender();
					if (unsent.length) write([...unsent, container.querySelector('textarea')?.value].join('\n').trim());
					focus();
				}}
				onTranscript_={() => void transcript()}
				onSend={(text: string) => {
					const isTaken = send(text);
					// A used suggestion disappears. The focus must stay in the chat.
					focus();
					return isTaken;
				}}
				onTalk_={() => {
					// Without a conversation there is nothing to request for: the words begin one.
					if (session?.conversationId_()) void session.requestPerson_();
					else send(strings.talk);
					menuOpen = false;
					rerender();
					focus();
				}}
				onDraft_={saveDraft}
				onCancel_={(id: string) => {
					const text = session?.cancelMessage_(id);
					if (text && !container.querySelector('textarea')?.value) write(text);
					focus();
				}}
				onEarlier_={() => void loadEarlier()}
				onSource_={(id: string, source: string) => {
					if (openSources.get(id) === source) openSources.delete(id);
					else openSources.set(id, source);
					sticksToEnd = false;
					rerender();
					root.getElementById(id)?.querySelector('.document')?.scrollIntoView({ block: 'nearest' });
				}}
				onCopy={copy}
				onScroll={() => {
					const { scrollHeight, scrollTop, clientHeight } = log();
					// Ignores scrolling by the chat itself.
					if (Math.abs(scrollTop - scrolledTo) < 2) return;
					scrolledTo = -1;
					sticksToEnd = scrollHeight - scrollTop - clientHeight < END_TOLERANCE_PX;
					readMessageId = sticksToEnd ? session?.messages_().at(-1)?.id : undefined;
				}}
			/>,
			// Outside the panel, so that announcements are read while the panel is closed.
			<div class="unseen" aria-live="polite">
				{announcement}
			</div>,
		]);
		hasUndrawnReply = false;
		if (session)
			updatePerson(container.querySelector('.people') as HTMLElement, {
				conversation: session.conversationId_(),
				people: session.people_(),
				last: session.messages_().at(-1),
			});
		// The focused element may be removed or disabled. The focus must stay in the chat.
		if (open && hadFocus && !root.activeElement?.matches(':enabled, a, [tabindex]')) focus();
		// A chat without messages is shown from its beginning.
		if (sticksToEnd && session?.messages_().length) keepEndInSight();
		// Updates the remaining seconds of a notice.
		if (open && session?.notice()?.until) timer = setTimeout(rerender, 1000) as unknown as number;
	};
	/**
	 * Scrolls to the end, but keeps the first line of an answer visible, with the end of the question above it.
	 * Never scrolls up: a visitor who has read further is not moved.
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
	/** Renders several changes at once. Not by animation frames: hidden pages must render too, for screen readers. */
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

	/** Loads the whole conversation and downloads it as a file. */
	const transcript = async () => {
		if (!session) return;
		menuOpen = false;
		rerender();
		focus();
		for (let before = -1; session.hasOlder_() && before < session.messages_().length; ) {
			before = session.messages_().length;
			await session.loadOlder_();
		}
		// If the rest cannot be loaded, a notice is shown already.
		if (session.hasOlder_()) return;
		try {
			const { saveTranscript } = await (options.loadPart as LoadPart)('transcript');
			saveTranscript(session.messages_(), name() ?? strings.title, strings, plain);
		} catch {
			announce(strings.trouble);
		}
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

	/** Closes the menu when something outside it is pressed or focused. */
	const onOutsideInteraction = (event: Event) => {
		if (!menuOpen || (event.target as Element).closest?.('.header')) return;
		menuOpen = false;
		scheduleRender();
	};
	container.addEventListener('pointerdown', onOutsideInteraction, { signal });
	container.addEventListener('focusin', onOutsideInteraction, { signal });
	const onKey = (event: KeyboardEvent) => {
		// Escape also cancels the text of an input method. That must not close the chat.
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
			// Delayed: screen readers ignore the initial text of a live region and read later changes.
			if (notice && open)
				announceTimer = setTimeout(() => announceNotice(notice.stringKey), ANNOUNCE_DELAY_MS) as unknown as number;
			if (open && takeFocus) focus();
		},
		send(text) {
			if (!send(text)) emit('error', { status: 0, code: 'queue_full' });
		},
		identify(jwt) {
			if (!session?.identify_(jwt)) return;
			// The next visitor must not get the previous visitor's texts.
			hasUndrawnReply = false;
			announcement = '';
			copiedText = null;
			rerender();
			write(draft.get(session.storageKey_()));
		},
		configure(changed) {
			hasLogo = null;
			config = changed;
			scheduleRender();
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
