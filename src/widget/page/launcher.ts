const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';
const BUBBLE = 'M4 5h16v11H9l-5 4z';

/** The button that opens and closes the chat. */
export interface Launcher {
	button: HTMLButtonElement;
	show(label: string, open: boolean, unread: number): void;
}

/** Uses the DOM directly: the chat's rendering is loaded only when the chat is needed. */
export function createLauncher(onClick: () => void): Launcher {
	const button = document.createElement('button');
	button.type = 'button';
	button.className = 'launcher';
	const svg = document.createElementNS(SVG_NAMESPACE, 'svg');
	svg.setAttribute('viewBox', '0 0 24 24');
	svg.setAttribute('aria-hidden', 'true');
	const path = document.createElementNS(SVG_NAMESPACE, 'path');
	path.setAttribute('d', BUBBLE);
	svg.append(path);
	const badge = document.createElement('span');
	badge.className = 'badge';
	button.append(svg, badge);
	button.addEventListener('click', onClick);
	return {
		button,
		show(label, open, unread) {
			button.setAttribute('aria-label', label + (unread ? ` (${unread})` : ''));
			button.setAttribute('aria-expanded', String(open));
			button.title = label;
			badge.textContent = unread ? String(unread) : '';
		},
	};
}
