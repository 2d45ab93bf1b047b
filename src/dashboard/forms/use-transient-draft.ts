import { useState } from 'preact/hooks';
import type { Draft } from './use-draft.ts';

/** A draft that ends with the page: for forms with secrets, which must not be in the browser's storage. */
export function useTransientDraft<T extends object>(stored: T): Draft<T> {
	const [changes, setChanges] = useState<Partial<T>>({});
	const change = (part: Partial<T>) => {
		const next = Object.entries({ ...changes, ...part });
		const differing = next.filter(([name, value]) => value !== stored[name as keyof T]);
		setChanges(Object.fromEntries(differing) as Partial<T>);
	};
	return {
		values: { ...stored, ...changes },
		changes,
		isDirty: Object.keys(changes).length > 0,
		change,
		reset: () => setChanges({}),
	};
}
