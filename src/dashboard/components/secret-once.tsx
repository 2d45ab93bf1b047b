import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { strings } from '../languages/index.ts';
import { Button } from './button.tsx';

interface ShownSecret {
	title: string;
	/** What it is for. */
	text: string;
	/** What the secret is, for its field. */
	label: string;
	secret: string;
	closed: () => void;
}

const shown = signal<ShownSecret | null>(null);

/**
 * Shows a secret that the server tells only once, in a dialog. The secret is nowhere else, and is forgotten when the dialog closes.
 * Resolves then.
 */
export function showSecretOnce(about: Omit<ShownSecret, 'closed'>): Promise<void> {
	return new Promise((resolve) => {
		shown.value?.closed();
		shown.value = { ...about, closed: resolve };
	});
}

/** The dialog of `showSecretOnce`. */
export function SecretDialog() {
	const t = strings().parts;
	const dialog = useRef<HTMLDialogElement>(null);
	const secret = shown.value;
	const wasShown = useRef(false);
	const forget = () => {
		shown.value?.closed();
		shown.value = null;
	};
	/** The result of copying. It stands in the dialog: what is behind it is not announced. */
	const [copied, setCopied] = useState('');
	// Before the next event: that of a former dialog's end may come after the next secret.
	useLayoutEffect(() => {
		setCopied('');
		if (secret) return dialog.current?.showModal();
		dialog.current?.close();
		// The button that led here may be gone with its page.
		if (wasShown.current && document.activeElement === document.body) document.querySelector('h1')?.focus();
	}, [secret]);
	useEffect(() => {
		wasShown.current = secret !== null;
	});
	// The next person who signs in does not see it.
	useEffect(() => forget, []);
	const copy = async (text: string) => {
		try {
			await navigator.clipboard.writeText(text);
			setCopied(strings().copied);
		} catch {
			setCopied(strings().copyFailed);
		}
	};
	return (
		<dialog
			ref={dialog}
			class="dialog secret-dialog"
			aria-labelledby="secret-title"
			aria-describedby="secret-text"
			// Escape is pressed by mistake too easily to lose a secret by it.
			onCancel={(event) => event.preventDefault()}
			onClose={({ currentTarget }) => {
				if (!currentTarget.open) forget();
			}}
		>
			{secret && (
				<>
					<h2 id="secret-title">{secret.title}</h2>
					<p id="secret-text">{secret.text}</p>
					<div class="secret">
						<input
							readOnly
							type="text"
							aria-label={secret.label}
							value={secret.secret}
							spellcheck={false}
							onFocus={(event) => event.currentTarget.select()}
						/>
						<Button icon="copy" look="primary" onClick={() => void copy(secret.secret)}>
							{strings().copy}
						</Button>
					</div>
					<p class="hint" role="status">
						{copied}
					</p>
					<p class="notice">{t.secretOnce}</p>
					<div class="actions">
						<Button onClick={forget}>{t.secretKept}</Button>
					</div>
				</>
			)}
		</dialog>
	);
}
