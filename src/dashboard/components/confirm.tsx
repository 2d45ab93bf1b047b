import { signal } from '@preact/signals';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { fill, strings } from '../languages/index.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';

interface Question {
	title: string;
	/** What will be lost. */
	text: string;
	/** Parts of what happens, one below the other. */
	points?: readonly string[];
	/** What the person types before the button can be pressed. */
	typed?: string;
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
	const [typed, setTyped] = useState('');
	const isLocked = asked?.typed !== undefined && normalized(typed) !== normalized(asked.typed);
	// Before the next event: that of a former dialog's end may come after the next question.
	useLayoutEffect(() => {
		setTyped('');
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
					{asked.points && (
						<ul class="points">
							{asked.points.map((point) => (
								<li key={point}>{point}</li>
							))}
						</ul>
					)}
					<form
						onSubmit={(event) => {
							event.preventDefault();
							if (!isLocked) close(true);
						}}
					>
						{asked.typed !== undefined && (
							<Field label={fill(strings().parts.typeToConfirm, { text: asked.typed })}>
								{(ids) => (
									<input
										{...ids}
										class="code"
										autocomplete="off"
										autocapitalize="off"
										spellcheck={false}
										value={typed}
										onInput={(event) => setTyped(event.currentTarget.value)}
									/>
								)}
							</Field>
						)}
						<div class="actions">
							<Button onClick={() => close(false)}>{strings().cancel}</Button>
							<Button look="danger" type="submit" disabled={isLocked}>
								{asked.action}
							</Button>
						</div>
					</form>
				</>
			)}
		</dialog>
	);
}

/** A field of one line has no line breaks, and copying may add spaces. */
function normalized(text: string): string {
	return text.trim().replace(/\s+/g, ' ');
}
