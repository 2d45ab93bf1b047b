import { showToast } from '../app/toasts.tsx';
import { strings } from '../languages/index.ts';
import { Icon } from './icon.tsx';

/** Copies a text to the clipboard. */
export function CopyButton({ text, label }: { text: string; label?: string }) {
	const copy = async () => {
		try {
			await navigator.clipboard.writeText(text);
			showToast(strings().copied);
		} catch {
			showToast(strings().copyFailed, { isError: true });
		}
	};
	const title = label ?? strings().copy;
	return (
		<button type="button" class="icon-button" aria-label={title} title={title} onClick={() => void copy()}>
			<Icon name="copy" />
		</button>
	);
}

/** An id: short, with a button that copies the whole. */
export function ShortId({ id }: { id: string }) {
	return (
		<span class="short-id">
			<code title={id}>{id.length > 16 ? `${id.slice(0, 9)}…${id.slice(-4)}` : id}</code>
			<CopyButton text={id} label={`${strings().copy}: ${id}`} />
		</span>
	);
}
