import { signal } from '@preact/signals';
import { Icon } from '../components/icon.tsx';
import { strings } from '../languages/index.ts';

interface Toast {
	id: number;
	text: string;
	isError: boolean;
}

const SHOWN_MS = 6_000;
const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

/** Says for a few seconds what has changed. An error stays until it is closed. */
export function showToast(text: string, options: { isError?: boolean } = {}): void {
	const toast = { id: ++lastId, text, isError: options.isError ?? false };
	toasts.value = [...toasts.value.slice(-2), toast];
	if (!toast.isError) setTimeout(() => close(toast.id), SHOWN_MS);
}

function close(id: number): void {
	toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

export function Toasts() {
	return (
		<div class="toasts" role="status" aria-live="polite">
			{toasts.value.map((toast) => (
				<div key={toast.id} class={toast.isError ? 'toast toast-error' : 'toast'}>
					<span>{toast.text}</span>
					<button type="button" class="icon-button" aria-label={strings().close} onClick={() => close(toast.id)}>
						<Icon name="close" />
					</button>
				</div>
			))}
		</div>
	);
}
