import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../api/api-error.ts';
import type { Versioned } from '../api/client.ts';
import { showToast } from '../app/toasts.tsx';
import { strings } from '../languages/index.ts';
import { Conflict } from './conflict.tsx';
import { useAction } from './use-action.ts';
import type { Draft } from './use-draft.ts';

/** How a form saves its draft of a resource `R` with the fields `T`. */
export interface ConditionalSaveOptions<R, T extends object> {
	/** The version that the form shows. */
	version: Versioned<R>;
	draft: Draft<T>;
	/** The form's fields of a resource. */
	fieldsOf: (resource: R) => T;
	/** The fields whose errors the form shows itself, by their JSON Pointers. */
	pointers: readonly string[];
	/** Asks before each save whether it shall be; resolves with the answer. */
	confirm?: () => Promise<boolean>;
	/** Sends the PATCH. @param latest what is stored under the version of `If-Match` */
	update: (headers: { 'If-Match': string }, latest: R) => Promise<Versioned<R>>;
	/** Reads what is stored now. */
	load: () => Promise<Versioned<R>>;
	/** Shows another version of the resource everywhere. */
	show: (version: Versioned<R>) => void;
	/** A field's name in the table of both versions. */
	labelOf: (field: keyof T) => string;
	/** A field's value in that table. Secrets are not shown. */
	textOf?: (values: T, field: keyof T) => string;
}

/** The save of a form. */
export interface ConditionalSave {
	run: () => void;
	isBusy: boolean;
	/** The error of the last save, where fields of the form caused it. */
	rejected: ApiError | null;
	/** The two versions to choose from, while there is a conflict. */
	conflict: VNode | null;
}

/** How often a save is repeated because something beside the form's fields has changed. */
const MAX_REPEATS = 5;

/**
 * Saves the draft of a form with `If-Match`. If somebody else has changed fields of the form meanwhile, both versions are shown.
 * A change of anything else, for example of a status, gives the resource a new version, too: then the save is repeated.
 */
export function useConditionalSave<R, T extends object>(options: ConditionalSaveOptions<R, T>): ConditionalSave {
	const { version, draft, fieldsOf, pointers, confirm, update, load, show, labelOf, textOf } = options;
	const [conflicting, setConflicting] = useState<Versioned<R> | null>(null);
	const finish = (next: Versioned<R>) => {
		setConflicting(null);
		show(next);
	};
	const save = useAction(async (base: Versioned<R>) => {
		// The person may type while the changes are on their way.
		const saved = draft.changes;
		if (confirm && !(await confirm())) return;
		let latest = base;
		for (let repeats = 0; ; repeats++) {
			try {
				const next = await update({ 'If-Match': latest.etag }, latest.value);
				draft.removeSaved(saved);
				finish(next);
				showToast(strings().saved);
				return;
			} catch (error) {
				if (!(error instanceof ApiError) || error.status !== 412) throw error;
			}
			latest = await load();
			const isSame = JSON.stringify(fieldsOf(latest.value)) === JSON.stringify(fieldsOf(base.value));
			if (!isSame || repeats === MAX_REPEATS) {
				setConflicting(latest);
				return;
			}
		}
	}, pointers);
	return {
		run: () => void save.run(version),
		isBusy: save.isBusy,
		rejected: save.rejected,
		conflict: conflicting && (
			<Conflict
				draft={draft}
				stored={fieldsOf(conflicting.value)}
				labelOf={labelOf}
				{...(textOf && { textOf })}
				onOverwrite={() => void save.run(conflicting)}
				onTakeTheirs={() => {
					draft.reset();
					finish(conflicting);
				}}
			/>
		),
	};
}
