import { directionOf, type Language } from '../languages/choose.ts';
import { createLauncher, type Launcher } from './launcher.ts';
import { styleSheet } from './style-sheets.ts';
import css from './widget.css';

/** The widget's elements, in a shadow root that isolates them from the page's styles. */
export interface Frame {
	/** The `<parley-widget>` element. */
	host: HTMLElement;
	root: ShadowRoot;
	/** Has the language, the theme and the colours. */
	frame: HTMLElement;
	/** The chat is rendered into this element. */
	container: HTMLElement;
	/** Shows why the chat could not be opened. */
	errorText: HTMLElement;
	launcher: Launcher;
	/** Sets the language and the direction of the texts. */
	setLanguage(language: Language): void;
}

export function createFrame(onLauncher: () => void): Frame {
	const host = document.createElement('parley-widget');
	const root = host.attachShadow({ mode: 'open' });
	// Created here and not when the module loads: servers that render pages load the module too, and have no style sheets.
	root.adoptedStyleSheets.push(styleSheet(css));
	const frame = document.createElement('div');
	frame.className = 'frame';
	const container = document.createElement('div');
	const errorText = document.createElement('p');
	errorText.className = 'sentence';
	errorText.setAttribute('role', 'alert');
	const launcher = createLauncher(onLauncher);
	// In the tab order the chat comes before its button, as on the screen.
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
