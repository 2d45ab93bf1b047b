import type { ComponentChildren } from 'preact';
import { SaveBar } from './save-bar.tsx';
import type { ConditionalSave } from './use-conditional-save.tsx';
import type { Draft } from './use-draft.ts';

/** The form of a draft: both versions while there is a conflict, the fields, and the bar that saves them. */
export function SaveForm<T extends object>({
	draft,
	save,
	isComplete = true,
	isReadOnly = false,
	children,
}: {
	draft: Draft<T>;
	save: ConditionalSave;
	/** False: a field that the browser does not check has no value, and nothing is sent. */
	isComplete?: boolean;
	/** The person may not save. */
	isReadOnly?: boolean;
	children: ComponentChildren;
}) {
	const run = () => {
		if (isComplete) save.run();
	};
	return (
		<>
			{save.conflict}
			<form class="card" onSubmit={(event) => event.preventDefault()}>
				{children}
				{!isReadOnly && <SaveBar draft={draft} isBusy={save.isBusy} onSave={run} />}
			</form>
		</>
	);
}
