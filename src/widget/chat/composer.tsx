import type { Strings } from '../languages/strings.ts';
import { Icon } from './icons.tsx';
import { h, type VirtualNode } from './virtual-dom.ts';

export interface ComposerProps {
	strings: Strings;
	/** Nothing can be sent in this conversation now. */
	disabled: boolean;
	/** A reply is in progress: it can be stopped, and further messages wait for its end. */
	busy: boolean;
	/** Nothing can be sent until the rate limit or the queue allows it. */
	paused: boolean;
	onSend(text: string): boolean;
	/** The text in the field has changed. */
	onDraft_(text: string): void;
	onStop(): void;
}

const MAX_MESSAGE_CHARS = 32_000;

/** The form with the text field. The DOM owns the field's text: rendering never overwrites it. */
export function Composer({ strings, disabled, busy, paused, onSend, onDraft_, onStop }: ComposerProps): VirtualNode {
	const send = (form: HTMLFormElement) => {
		const field = form.elements[0] as HTMLTextAreaElement;
		if (paused || disabled || !field.value.trim() || !onSend(field.value)) return;
		field.value = '';
		onDraft_('');
		autoSize(field);
	};
	return (
		<form
			onSubmit={(event: Event) => {
				event.preventDefault();
				send(event.currentTarget as HTMLFormElement);
			}}
		>
			<textarea
				rows="1"
				maxlength={MAX_MESSAGE_CHARS}
				aria-label={strings.field}
				placeholder={strings.placeholder}
				enterkeyhint="send"
				readonly={disabled}
				aria-disabled={disabled}
				onInput={(event: Event) => {
					const field = event.currentTarget as HTMLTextAreaElement;
					onDraft_(field.value);
					autoSize(field);
				}}
				onKeyDown={(event: KeyboardEvent) => {
					// Enter also commits the text of an input method. That is not a submit.
					if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return;
					event.preventDefault();
					send((event.currentTarget as HTMLTextAreaElement).form as HTMLFormElement);
				}}
			/>
			{busy && stopButton(strings.stop, onStop)}
			<button
				key="send"
				type="submit"
				class={busy ? 'icon round later' : 'icon round'}
				title={strings.send}
				aria-label={strings.send}
				disabled={disabled || paused}
			>
				<Icon shape="send" />
			</button>
		</form>
	);
}

function stopButton(title: string, onStop: () => void): VirtualNode {
	return (
		<button
			key="stop"
			type="button"
			class="icon round"
			title={title}
			aria-label={title}
			onClick={(event: Event) => {
				// The button is about to be removed.
				(event.currentTarget as HTMLButtonElement).form?.querySelector('textarea')?.focus();
				onStop();
			}}
		>
			<span class="square" />
		</button>
	);
}

/** Sets the field's height to that of its text. The style sheet limits it. */
export function autoSize(field: HTMLTextAreaElement): void {
	field.style.height = 'auto';
	field.style.height = `${field.scrollHeight + 2}px`;
}
