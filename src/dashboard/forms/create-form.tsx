import type { ComponentChildren } from 'preact';
import { Button, ButtonLink } from '../components/button.tsx';
import { strings } from '../languages/index.ts';

/** The form of something new: its fields, the button that creates it, and the way back. */
export function CreateForm({
	children,
	class: className = 'card inline-form',
	action = strings().create,
	isBusy,
	isIncomplete = false,
	cancel,
	onCreate,
}: {
	children: ComponentChildren;
	class?: string;
	/** The label of the button. */
	action?: string;
	isBusy: boolean;
	/** A required field is empty: nothing can be created yet. */
	isIncomplete?: boolean;
	/** The address of the page to go back to, or what closes the form. */
	cancel: string | (() => void);
	onCreate: () => void;
}) {
	const s = strings();
	return (
		<form
			class={className}
			onSubmit={(event) => {
				event.preventDefault();
				onCreate();
			}}
		>
			{children}
			<div class="actions">
				<Button look="primary" type="submit" isBusy={isBusy} disabled={isIncomplete}>
					{action}
				</Button>
				{typeof cancel === 'string' ? (
					<ButtonLink look="quiet" href={cancel}>
						{s.cancel}
					</ButtonLink>
				) : (
					<Button look="quiet" onClick={cancel}>
						{s.cancel}
					</Button>
				)}
			</div>
		</form>
	);
}
