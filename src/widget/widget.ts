import type { WidgetConfig } from '../contract/index.ts';
import type { Chat, Problem } from './chat/chat-module.ts';
import { buttonLabel, chooseLanguage } from './languages/choose.ts';
import type { Strings } from './languages/strings.ts';
import { applyAppearance, DARK_SCHEME_QUERY } from './page/appearance.ts';
import { type ConfigError, fetchConfig, type WidgetSource } from './page/config.ts';
import { createEmitter } from './page/emitter.ts';
import { createFiles } from './page/files.ts';
import { createFrame } from './page/frame.ts';
import { createLauncherCorner } from './page/launcher-corners.ts';
import { memoiseUntilFailure } from './page/memoise-until-failure.ts';
import { bindToScripts } from './page/script-ownership.ts';
import { tabState } from './page/tab-state.ts';
import { watchScheme } from './page/theme.ts';
import { whenRemoved } from './page/when-removed.ts';
import type { Widget, WidgetOptions } from './public.d.ts';

/** Screens on which the chat covers the page. */
const SMALL_SCREEN_QUERY = '(max-width: 480px), (max-height: 440px)';
/** The button appears without the configuration after this time. */
const BUTTON_TIMEOUT_MS = 2_000;
/** Sent to the other widgets of the page when a chat opens: one chat is open at a time. */
const OPENING_EVENT = 'parley:opening';
/** Shown if neither the chat nor its strings could be loaded. */
const LOAD_FAILED_TEXT = 'That did not work. Please try again.';

/**
 * Adds a widget to the page: first its button, then the chat when the visitor opens it. The functions are in the order in which
 * they run. The calls that start them are at the end.
 *
 * @param source only for the dashboard's preview; pages pass the options alone
 */
export function createWidget(options: WidgetOptions, source: WidgetSource = { fetchConfig }): Widget {
	const { deploymentId } = options;
	const base = new URL('.', new URL(options.baseUrl ?? import.meta.url, document.baseURI)).href;
	const language = chooseLanguage([options.language, ...navigator.languages]);
	const lifetime = new AbortController();
	const { signal } = lifetime;
	const { on, emit } = createEmitter();
	const { host, root, frame, container, errorText, launcher, setLanguage } = createFrame(() =>
		isOpen ? close() : open(),
	);
	const { loadChat, loadStrings, loadPart, preload } = createFiles(base, language, setLanguage);
	const corner = createLauncherCorner(frame);
	const smallScreen = matchMedia(SMALL_SCREEN_QUERY);
	let config: WidgetConfig | null = null;
	let problem: Problem | null = null;
	let strings: Strings | null = null;
	let chat: Chat | null = null;
	let jwt: string | null = null;
	/** Texts that the page sends before the chat exists. */
	const unsent: string[] = [];
	let isOpen = false;
	let unread = 0;
	let hasAppeared = false;
	/** The page has removed the element. The widget stops until the chat is opened or the tag is added again. */
	let isRemoved = false;
	/** The focused element when the page opened the chat. */
	let opener: Element | null = null;

	/** Loads the configuration, shows the button, and opens the chat if it was open on the previous page. */
	async function start(): Promise<void> {
		// On a small screen it would cover a page that the visitor has not seen yet.
		const opensItself = (tabState.get(deploymentId, 'open') ?? options.open) && !smallScreen.matches;
		if (opensItself) preload();
		const buttonTimer = setTimeout(appear, BUTTON_TIMEOUT_MS);
		await loadConfig().catch(() => {});
		clearTimeout(buttonTimer);
		if (isEnded()) return;
		appear();
		if (frame.classList.contains('busy')) return;
		if (opensItself || isOpen) void show(isOpen);
		// A visitor who waits for a person gets the answer on every page. Texts that the page sent before it closed the chat are sent.
		else if (humanExpected() || unsent.length) void makeChat().then(sendUnsent, () => {});
		else launcher.button.addEventListener('pointerenter', preload, { once: true });
	}

	const loadConfig = memoiseUntilFailure(async (): Promise<void> => {
		try {
			config = await source.fetchConfig(base, deploymentId);
		} catch (error) {
			const { status, code } = error as ConfigError;
			problem = { status };
			emit('error', { status, code });
			console.warn(`Parley: ${deploymentId} cannot be used on ${location.origin} (${status} ${code}).`);
			throw error;
		}
		problem = null;
		appear();
		if (!signal.aborted) emit('ready', {});
	});

	/** Adds the element to the page, beside its body, so that changes of the body do not affect the chat. */
	function appear(): void {
		if (isEnded()) return;
		updateLook();
		hasAppeared = true;
		if (host.isConnected) return;
		document.documentElement.append(host);
		whenRemoved(host, onRemoved, signal);
	}

	function updateLook(): void {
		if (isEnded()) return;
		const appearance = config?.appearance;
		applyAppearance(frame, options, appearance);
		corner.reserve(options.position ?? appearance?.position ?? 'bottom-right');
		launcher.show(buttonLabel(language, isOpen), isOpen, unread);
	}

	function open(): void {
		if (isChatVisible()) return;
		const { activeElement } = document;
		if (activeElement !== host) opener = activeElement;
		void show(true);
	}

	/** Creates the chat if needed, and opens it. */
	async function show(takeFocus: boolean): Promise<void> {
		setOpen(true);
		if (!hasAppeared) return;
		// The page may have removed the element or replaced its document.
		isRemoved = false;
		appear();
		frame.classList.add('busy');
		errorText.textContent = '';
		try {
			await makeChat();
			if (isEnded()) return;
			if (isOpen) reveal(takeFocus);
			// Even if the chat was closed meanwhile.
			sendUnsent();
		} catch {
			// The button stays, so that the visitor can try again.
			setOpen(false);
			if (takeFocus) errorText.textContent = strings?.trouble ?? LOAD_FAILED_TEXT;
			emit('error', { status: 0, code: 'unreachable' });
		} finally {
			frame.classList.remove('busy');
			updateLook();
		}
	}

	/** Creates the chat, closed. */
	async function makeChat(): Promise<void> {
		if (!config) {
			await loadConfig().catch(() => {});
			// A chat that was created without the configuration cannot send anything.
			dropChat();
		}
		preload();
		strings = await loadStrings();
		const { createChat } = await loadChat();
		if (isEnded() || chat) return;
		chat = createChat({
			container,
			root,
			base,
			config,
			problem,
			strings,
			language,
			title: options.title,
			smallScreen,
			humanExpected: humanExpected(),
			loadPart,
			fetch: source.fetch,
			onClose: close,
			onReload: () => {
				dropChat();
				void show(true);
			},
			onUnread: (count) => {
				unread = count;
				updateLook();
			},
			onHumanExpected: (is) => tabState.set(deploymentId, 'person', is),
			emit,
		});
		if (jwt) chat.identify(jwt);
		chat.show(false, false);
	}

	/** Shows the chat. Other widgets of the page close theirs. */
	function reveal(takeFocus: boolean): void {
		dispatchEvent(new CustomEvent(OPENING_EVENT, { detail: host }));
		const wasOpen = frame.classList.contains('open');
		// The chat covers the button if no other button is on that side of the page.
		frame.classList.toggle('raised', corner.isShared());
		setShown(true);
		chat?.show(true, takeFocus);
		if (!wasOpen) emit('open', {});
	}

	function close(): void {
		if (!isOpen) return;
		setOpen(false);
		const hadFocus = root.activeElement !== null;
		setShown(false);
		chat?.show(false, false);
		updateLook();
		const back = launcher.button.hidden ? (opener as HTMLElement | null) : launcher.button;
		if (hadFocus) back?.focus({ preventScroll: true });
		emit('close', {});
	}

	function send(text: string): void {
		unsent.push(text);
		if (isChatVisible()) sendUnsent();
		else open();
	}

	function identify(token: string): void {
		jwt = token;
		chat?.identify(token);
	}

	/** The page has removed the element: destroys the chat with its connections and listeners. */
	function onRemoved(): void {
		const wasOpen = isOpen;
		isRemoved = true;
		// The stored state stays open, for a widget that replaces this one.
		isOpen = false;
		setShown(false);
		dropChat();
		corner.release();
		if (wasOpen) emit('close', {});
	}

	function destroy(): void {
		lifetime.abort();
		dropChat();
		corner.release();
		host.remove();
	}

	/** Sends the texts that the page sent before the chat existed. A chat without a configuration cannot send: then they wait. */
	function sendUnsent(): void {
		if (config) for (const text of unsent.splice(0)) chat?.send(text);
	}

	function setOpen(is: boolean): void {
		isOpen = is;
		tabState.set(deploymentId, 'open', is);
	}

	function setShown(isShown: boolean): void {
		frame.classList.toggle('open', isShown);
		host.toggleAttribute('data-open', isShown);
	}

	function dropChat(): void {
		chat?.destroy();
		chat = null;
	}

	function humanExpected(): boolean {
		return tabState.get(deploymentId, 'person') === true;
	}

	function isChatVisible(): boolean {
		return isOpen && chat !== null && host.isConnected;
	}

	function isEnded(): boolean {
		return signal.aborted || isRemoved;
	}

	setLanguage(language);
	launcher.button.hidden = options.launcher === false;
	matchMedia(DARK_SCHEME_QUERY).addEventListener('change', updateLook, { signal });
	watchScheme(updateLook, signal);
	source.onChanged?.((changed) => {
		config = changed;
		updateLook();
		chat?.configure(changed);
	});
	const onOpening = (event: Event) => {
		if ((event as CustomEvent).detail !== host) close();
	};
	addEventListener(OPENING_EVENT, onOpening, { signal });
	if (document.body) void start();
	else addEventListener('DOMContentLoaded', () => void start(), { once: true, signal });

	const widget: Widget = { deploymentId, open, close, send, identify, on, destroy };
	bindToScripts(widget, () => isRemoved, signal);
	return widget;
}
