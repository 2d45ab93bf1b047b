import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { sentenceOf } from '../components/page.tsx';
import { showToast } from './toasts.tsx';

const isOpen = signal(false);
const palette = signal<ComponentType<{ onClose: () => void }> | null>(null);

/** Opens the command palette. It is loaded when it is first opened. */
export function openPalette(): void {
	isOpen.value = true;
	if (palette.value !== null) return;
	import('../palette/index.tsx').then(
		(loaded) => {
			palette.value = loaded.default;
		},
		(error: Error) => {
			isOpen.value = false;
			showToast(sentenceOf(error), { isError: true });
		},
	);
}

/** The command palette, and its keys: Ctrl+K and ⌘K. */
export function PaletteHost() {
	useEffect(() => {
		const onKeyDown = (event: KeyboardEvent) => {
			if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey)
				return;
			event.preventDefault();
			// Over another dialog it would hide what that one asks.
			if (document.querySelector('dialog[open]') === null) openPalette();
		};
		addEventListener('keydown', onKeyDown);
		return () => removeEventListener('keydown', onKeyDown);
	}, []);
	const Palette = palette.value;
	if (!isOpen.value || Palette === null) return null;
	return (
		<Palette
			onClose={() => {
				isOpen.value = false;
			}}
		/>
	);
}
