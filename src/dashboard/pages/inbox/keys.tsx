import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { strings } from '../../languages/index.ts';

/** What the keys of the inbox do. */
export interface KeyActions {
	next(): void;
	previous(): void;
	reply(): void;
	archive(): void;
	search(): void;
	help(): void;
	leave(): void;
}

const KEYS: Readonly<Record<string, keyof KeyActions>> = {
	j: 'next',
	k: 'previous',
	r: 'reply',
	e: 'archive',
	'/': 'search',
	'?': 'help',
	Escape: 'leave',
};

/** Listens to the keys while the page is shown. Keys that are typed into a field belong to it, all but Escape. */
export function useKeys(actions: KeyActions): void {
	const latest = useRef(actions);
	latest.current = actions;
	useEffect(() => {
		const onKey = (event: KeyboardEvent) => {
			const name = KEYS[event.key];
			if (name === undefined || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
			if (document.querySelector('dialog[open]')) return;
			const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select') !== null;
			if (isTyping && name === 'leave') (event.target as HTMLElement).blur();
			if (isTyping) return;
			event.preventDefault();
			latest.current[name]();
		};
		addEventListener('keydown', onKey);
		return () => removeEventListener('keydown', onKey);
	}, []);
}

/** The dialog with the keys. */
export function KeysDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
	const s = strings();
	const t = s.inboxPages;
	const dialog = useRef<HTMLDialogElement>(null);
	useEffect(() => {
		if (isOpen) dialog.current?.showModal();
		else dialog.current?.close();
	}, [isOpen]);
	const keys = [
		['j', t.keyNext],
		['k', t.keyPrevious],
		['r', t.keyReply],
		['e', t.keyArchive],
		['/', t.keySearch],
		['?', t.keyHelp],
		['Esc', t.keyLeave],
		['Enter', t.keySend],
	] as const;
	return (
		<dialog ref={dialog} class="dialog" aria-labelledby="keys-title" onClose={onClose}>
			<h2 id="keys-title">{t.keysTitle}</h2>
			<dl class="keys">
				{keys.map(([key, text]) => (
					<div key={key}>
						<dt>
							<kbd>{key}</kbd>
						</dt>
						<dd>{text}</dd>
					</div>
				))}
			</dl>
			<div class="actions">
				<Button onClick={onClose}>{s.close}</Button>
			</div>
		</dialog>
	);
}
