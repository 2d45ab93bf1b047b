import { directionOf, type Language } from '../languages/choose.ts';
import { createLauncher, type Launcher } from './launcher.ts';
import { styleSheet } from './style-sheets.ts';
import css from './widget.css';

/** The widget's elements, in a shadow root that the page's styles do not reach. */
export interface Frame {
	/** The `<parley-widget>` element. */
	host: HTMLElement;
	root: ShadowRoot;
	/** Has the language, the theme and the colours. */
	frame: HTMLElement;
	/** The chat goes here. */
	container: HTMLElement;
	/** Says why the chat could not be opened. */
	errorText: HTMLElement;
	launcher: Launcher;
	/** Sets the language of the texts, and their direction. */
	setLanguage(language: Language): void;
}

export function createFrame(onLauncher: () => void): Frame {
	const host = document.createElement('parley-widget');
	const root = host.attachShadow({ mode: 'open' });
	// Made here and not when the module loads: servers that render pages load it too, and have no style sheets.
	root.adoptedStyleSheets.push(styleSheet(css));
	const frame = document.createElement('div');
	frame.className = 'frame';
	const container = document.createElement('div');
	const errorText = document.createElement('p');
	errorText.className = 'sentence';
	errorText.setAttribute('role', 'alert');
	const launcher = createLauncher(onLauncher);
	// The chat comes before its button in the order of the keyboard, as it does on the screen.
	frame.append(container, errorText, launcher.button);
	root.append(frame);
	return {
		host,
		root,
		frame,
		container,
		errorText,
		launcher,
		setLanguage(language) {
			frame.lang = language;
			frame.dir = directionOf(language);
		},
	};
}
