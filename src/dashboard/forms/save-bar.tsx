import { useLayoutEffect } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { strings } from '../languages/index.ts';
import type { Draft } from './use-draft.ts';

/** The end of a form: whether it has unsaved changes, and the buttons that save or discard them. Ctrl+S and ⌘S save, too. */
export function SaveBar<T extends object>({
	draft,
	isBusy,
	onSave,
}: {
	draft: Draft<T>;
	isBusy: boolean;
	onSave: () => void;
}) {
	const s = strings();
	// Before the next key press: an effect after the paint would save what the form was before it.
	useLayoutEffect(() => {
		const saveByKey = (event: KeyboardEvent) => {
			if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return;
			event.preventDefault();
			if (draft.isDirty && !isBusy) onSave();
		};
		addEventListener('keydown', saveByKey);
		return () => removeEventListener('keydown', saveByKey);
	});
	return (
		<div class="save-bar">
			<Button look="primary" isBusy={isBusy} disabled={!draft.isDirty} onClick={onSave}>
				{s.save}
			</Button>
			{draft.isDirty && (
				<>
					<Button look="quiet" onClick={() => draft.reset()}>
						{s.discard}
					</Button>
					<span class="unsaved" role="status">
						{s.unsaved}
					</span>
				</>
			)}
		</div>
	);
}
