import { useRef, useState } from 'preact/hooks';
import { ApiError } from '../api/api-error.ts';
import { showToast } from '../app/toasts.tsx';
import { sentenceOf } from '../components/page.tsx';

/** An action that a button starts. */
export interface Action<A extends unknown[]> {
	run(...args: A): Promise<void>;
	isBusy: boolean;
	/** The error of the last run, where its request was rejected because of fields. */
	rejected: ApiError | null;
}

/**
 * Runs an action once at a time: while it runs, another call does nothing. An error is shown: beside the fields that the server names, else as a toast.
 * @param fields the fields of the form by their JSON Pointers, whose errors and those of their members the form shows itself
 */
export function useAction<A extends unknown[]>(
	action: (...args: A) => Promise<unknown>,
	fields: readonly string[] = [],
): Action<A> {
	const [isBusy, setBusy] = useState(false);
	/** The state changes with the next rendering only, and two presses may come before that. */
	const isRunning = useRef(false);
	const [rejected, setRejected] = useState<ApiError | null>(null);
	return {
		isBusy,
		rejected,
		async run(...args) {
			if (isRunning.current) return;
			isRunning.current = true;
			setBusy(true);
			setRejected(null);
			try {
				await action(...args);
			} catch (error) {
				const isShownByFields = error instanceof ApiError && fields.some((field) => error.messageFor(field) !== null);
				if (isShownByFields) setRejected(error);
				else showToast(sentenceOf(error as Error), { isError: true });
			} finally {
				isRunning.current = false;
				setBusy(false);
			}
		},
	};
}
