import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { strings } from '../languages/index.ts';
import { Button } from './button.tsx';

interface Question {
	title: string;
	/** What will be lost. */
	text: string;
	/** The label of the button that does it. */
	action: string;
	answer: (isConfirmed: boolean) => void;
}

const question = signal<Question | null>(null);

/** Asks before something is lost. Resolves to whether the person confirmed. */
export function confirm(about: Omit<Question, 'answer'>): Promise<boolean> {
	return new Promise((resolve) => {
		question.value?.answer(false);
		question.value = { ...about, answer: resolve };
	});
}

/** The dialog of `confirm`. The browser returns the focus when it closes. */
export function ConfirmDialog() {
	const dialog = useRef<HTMLDialogElement>(null);
	const asked = question.value;
	// Before the next event: that of a former dialog's end may come after the next question.
	useLayoutEffect(() => {
		if (asked) dialog.current?.showModal();
		else dialog.current?.close();
	}, [asked]);
	const close = (isConfirmed: boolean) => {
		asked?.answer(isConfirmed);
		question.value = null;
	};
	return (
		<dialog
			ref={dialog}
			class="dialog"
			aria-labelledby="confirm-title"
			onClose={({ currentTarget }) => !currentTarget.open && question.value && close(false)}
		>
			{asked && (
				<>
					<h2 id="confirm-title">{asked.title}</h2>
					<p>{asked.text}</p>
					<div class="actions">
						<Button onClick={() => close(false)}>{strings().cancel}</Button>
						<Button look="danger" onClick={() => close(true)}>
							{asked.action}
						</Button>
					</div>
				</>
			)}
		</dialog>
	);
}
