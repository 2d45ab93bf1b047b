import type { WidgetConfig } from '../contract/index.ts';
import type { Chat, ChatModule, Problem } from './chat/contract.ts';
import { buttonLabel, chooseLanguage, directionOf, type Language } from './languages/choose.ts';
import type { Strings } from './languages/strings.ts';
import { createEmitter } from './page/emitter.ts';
import { createLauncher } from './page/launcher.ts';
import { openness } from './page/openness.ts';
import { tie } from './page/owners.ts';
import { type Side, takePlace } from './page/places.ts';
import { whenRemoved } from './page/presence.ts';
import { styleSheet } from './page/style-sheets.ts';
import { declaredScheme, watchScheme } from './page/theme.ts';
import css from './page/widget.css';
import type { Widget, WidgetOptions } from './public.d.ts';
import { brandColours } from './text/colours.ts';

const SURFACE = { light: '#ffffff', dark: '#1b1c22' };
const RAISED = { light: '#f3f4f7', dark: '#282a33' };
const DEFAULT_COLOUR = '#4f46e5';
const COLOUR = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i;
const CONFIG_MS = 20_000;
/** Screens on which the chat covers the page. */
const SMALL = '(max-width: 480px), (max-height: 440px)';
/** The button waits so long for the configuration, and is seen without it then. */
const PATIENCE_MS = 2_000;
/** Told to the other widgets of the page: there is one chat at a time. */
const OPENING = 'parley:opening';
/** Where neither the chat nor its language could be had. */
const TROUBLE = 'That did not work. Please try again.';

/** Puts a chat on the page: its button now, the chat itself when somebody opens it. */
export function createWidget(options: WidgetOptions): Widget {
	const { deploymentId } = options;
	const base = new URL('.', new URL(options.baseUrl ?? import.meta.url, document.baseURI)).href;
	const language = chooseLanguage([options.language, ...navigator.languages]);
	const { on, emit } = createEmitter();
	const life = new AbortController();
	const { signal } = life;

	const host = document.createElement('parley-widget');
	const root = host.attachShadow({ mode: 'open' });
	// Made only now: servers that draw pages load this module too, and have no style sheets.
	root.adoptedStyleSheets.push(styleSheet(css));
	const frame = document.createElement('div');
	frame.className = 'frame';
	const speak = (tongue: Language) => {
		frame.lang = tongue;
		frame.dir = directionOf(tongue);
	};
	speak(language);
	const place = document.createElement('div');
	const sentence = document.createElement('p');
	sentence.className = 'sentence';
	sentence.setAttribute('role', 'alert');
	const launcher = createLauncher(() => (isOpen ? close() : open()));
	// The chat stands before its button, as it does for the eye: what opens it also follows it.
	frame.append(place, sentence, launcher.button);
	root.append(frame);
	launcher.button.hidden = options.launcher === false;

	let isOpen = false;
	let unread = 0;
	let config: WidgetConfig | null = null;
	let problem: Problem | null = null;
	let strings: Strings | null = null;
	let chat: Chat | null = null;
	let jwt: string | null = null;
	const waiting: string[] = [];
	let hasAppeared = false;
	/** The page has removed the element: nothing goes on until the chat is opened, or the tag is added, again. */
	let isRemoved = false;
	/** What had the focus when the page opened the chat. */
	let opener: Element | null = null;
	let spot: ReturnType<typeof takePlace> | null = null;

	const small = matchMedia(SMALL);
	const dark = matchMedia('(prefers-color-scheme: dark)');
	const leavePlace = () => {
		spot?.leave();
		spot = null;
		delete frame.dataset.side;
	};
	const dropChat = () => {
		chat?.destroy();
		chat = null;
	};
	const paint = () => {
		if (signal.aborted || isRemoved) return;
		const { primary_color, theme, position, radius, font_family } = { ...config?.appearance };
		const wanted = options.theme ?? theme ?? 'auto';
		const own = wanted === 'auto' ? (declaredScheme() ?? (dark.matches ? 'dark' : 'light')) : wanted;
		const shade = own === 'dark' ? 'dark' : 'light';
		frame.dataset.radius = radius ?? 'medium';
		frame.dataset.font = font_family ?? 'system';
		if (font_family === 'inherit') frame.style.fontFamily = getComputedStyle(document.body).fontFamily;
		else frame.style.removeProperty('font-family');
		frame.dataset.theme = shade;
		const side: Side = options.position ?? position ?? 'bottom-right';
		if (frame.dataset.side !== side) {
			spot?.leave();
			spot = takePlace(side);
			frame.dataset.side = side;
			frame.style.setProperty('--shift', String(spot.place));
		}
		const colour = [options.color, primary_color].find((text) => COLOUR.test(text ?? '')) ?? DEFAULT_COLOUR;
		for (const [name, value] of Object.entries(brandColours(colour, SURFACE[shade], RAISED[shade]))) {
			frame.style.setProperty(`--${name}`, value);
		}
		frame.style.setProperty('--surface', SURFACE[shade]);
		frame.style.setProperty('--raised', RAISED[shade]);
		launcher.show(buttonLabel(language, isOpen), isOpen, unread);
	};
	dark.addEventListener('change', paint, { signal });
	watchScheme(paint, signal);

	/** A file of the widget's. Browsers may remember under a name that it could not be had. */
	const load = (name: string) => {
		const url = `${base}widget/${name}-${VERSION}.js`;
		return import(/* @vite-ignore */ url).catch(() => import(/* @vite-ignore */ `${url}?${Date.now()}`));
	};
	const loadChat = once((): Promise<ChatModule> => load('chat'));
	const loadStrings = once(async (): Promise<Strings> => {
		speak(language);
		const found = load(language).catch(() => {
			// Then it is English, and says that it is.
			speak('en');
			return load('en');
		});
		strings = (await found).strings as Strings;
		return strings;
	});
	/** What will be needed when the chat is opened; what cannot be had now is asked for again then. */
	const prepare = () => void Promise.all([loadChat(), loadStrings()]).catch(() => {});
	/** Comes on the page, beside its body: what the page does to that, it does not do to the chat. */
	const appear = () => {
		if (signal.aborted || isRemoved) return;
		paint();
		hasAppeared = true;
		if (host.isConnected) return;
		document.documentElement.append(host);
		whenRemoved(host, onRemoved, signal);
	};
	/** The page has removed the element: the chat ends, with its connections and listeners. */
	const onRemoved = () => {
		isRemoved = true;
		const wasOpen = isOpen;
		isOpen = false;
		frame.classList.remove('open');
		dropChat();
		leavePlace();
		if (wasOpen) emit('close', {});
	};
	const loadConfig = once(async (): Promise<void> => {
		let status = 0;
		let code = 'unreachable';
		try {
			const response = await fetch(`${base}api/v1/widget/config?deployment_id=${encodeURIComponent(deploymentId)}`, {
				credentials: 'omit',
				// What decides is the page's origin, whatever the page tells others of itself; its path is nobody's business.
				referrerPolicy: 'origin',
				signal: AbortSignal.timeout(CONFIG_MS),
			});
			status = response.status;
			const answer = await response.json();
			if (response.ok) {
				config = answer;
				problem = null;
				appear();
				if (!signal.aborted) emit('ready', {});
				return;
			}
			code = answer.error.code;
		} catch {}
		problem = { status };
		emit('error', { status, code });
		console.warn(`Parley: ${deploymentId} cannot be used on ${location.origin} (${status} ${code}).`);
		throw new Error(code);
	});

	const begin = async () => {
		// Not where it would cover a page that nobody has seen yet.
		const opensItself = (openness.get(deploymentId, 'open') ?? options.open) && !small.matches;
		if (opensItself) prepare();
		const patience = setTimeout(appear, PATIENCE_MS);
		await loadConfig().catch(() => {});
		clearTimeout(patience);
		if (signal.aborted || isRemoved) return;
		appear();
		if (frame.classList.contains('busy')) return;
		if (opensItself || isOpen) void show(isOpen);
		// Whoever waits for a person hears of them on every page; and what the page sent, and closed again, is sent.
		else if (expected() || waiting.length) void make().then(flush, () => {});
		else launcher.button.addEventListener('pointerenter', prepare, { once: true });
	};

	const expected = () => openness.get(deploymentId, 'person') === true;
	/** Makes the chat, closed. */
	const make = async () => {
		if (!config) {
			await loadConfig().catch(() => {});
			// One that was made without it cannot do anything.
			dropChat();
		}
		prepare();
		const strings = await loadStrings();
		const module = await loadChat();
		if (signal.aborted || isRemoved) return;
		if (!chat) {
			chat = module.createChat({
				place,
				root,
				base,
				config,
				problem,
				strings,
				language,
				title: options.title,
				small,
				expected: expected(),
				onClose: close,
				onReload() {
					dropChat();
					void show(true);
				},
				onUnread(count) {
					unread = count;
					paint();
				},
				onExpected: (is) => openness.set(deploymentId, 'person', is),
				emit,
			});
			if (jwt) chat.identify(jwt);
			chat.show(false, false);
		}
	};
	/** Brings the chat on the page, and opens it. */
	const show = async (takeFocus: boolean) => {
		isOpen = true;
		openness.set(deploymentId, 'open', true);
		if (!hasAppeared) return;
		// The page may have removed it, or become another document.
		isRemoved = false;
		appear();
		frame.classList.add('busy');
		sentence.textContent = '';
		try {
			await make();
			if (signal.aborted || isRemoved) return;
			if (isOpen) {
				dispatchEvent(new CustomEvent(OPENING, { detail: host }));
				const wasOpen = frame.classList.contains('open');
				// Its place is the button's, where that is the only one on its side of the page.
				frame.classList.toggle('raised', spot?.isShared() ?? false);
				frame.classList.add('open');
				host.toggleAttribute('data-open', true);
				chat?.show(true, takeFocus);
				if (!wasOpen) emit('open', {});
			}
			// Also where it was closed meanwhile: what was sent is sent.
			flush();
		} catch {
			// The button stays, for another try.
			isOpen = false;
			openness.set(deploymentId, 'open', false);
			if (takeFocus) sentence.textContent = strings?.trouble ?? TROUBLE;
			emit('error', { status: 0, code: 'unreachable' });
		} finally {
			frame.classList.remove('busy');
			paint();
		}
	};

	/** A chat without a configuration cannot send anything: that waits for the next one. */
	const flush = () => {
		if (config) for (const text of waiting.splice(0)) chat?.send(text);
	};
	const isThere = () => isOpen && chat !== null && host.isConnected;
	const open = () => {
		if (isThere()) return;
		if (document.activeElement !== host) opener = document.activeElement;
		void show(true);
	};
	const close = () => {
		if (!isOpen) return;
		isOpen = false;
		openness.set(deploymentId, 'open', false);
		const hadFocus = root.activeElement !== null;
		frame.classList.remove('open');
		host.toggleAttribute('data-open', false);
		chat?.show(false, false);
		paint();
		const back = launcher.button.hidden ? (opener as HTMLElement | null) : launcher.button;
		if (hadFocus) back?.focus({ preventScroll: true });
		emit('close', {});
	};

	const onOpening = (event: Event) => {
		if ((event as CustomEvent).detail !== host) close();
	};
	addEventListener(OPENING, onOpening, { signal });

	if (document.body) void begin();
	else addEventListener('DOMContentLoaded', () => void begin(), { once: true, signal });

	const widget: Widget = {
		deploymentId,
		open,
		close,
		send(text) {
			waiting.push(text);
			if (isThere()) flush();
			else open();
		},
		identify(token) {
			jwt = token;
			chat?.identify(token);
		},
		on,
		destroy() {
			life.abort();
			dropChat();
			spot?.leave();
			host.remove();
		},
	};
	tie(widget, () => isRemoved, signal);
	return widget;
}

/** Asks for something once, for all who want it; again where it could not be had. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
	let asked: Promise<T> | null = null;
	return () => {
		asked ??= ask().catch((error) => {
			asked = null;
			throw error;
		});
		return asked;
	};
}
