import { useRef, useState } from 'preact/hooks';
import { type Draft, differing } from './use-draft.ts';

/** A draft that ends with the page: for forms with secrets, which must not be in the browser's storage. */
export function useTransientDraft<T extends object>(stored: T): Draft<T> {
	const [changes, setChanges] = useState<Partial<T>>({});
	const latest = useRef(changes);
	const keep = (next: Partial<T>) => {
		latest.current = next;
		setChanges(next);
	};
	return {
		values: { ...stored, ...changes },
		changes,
		isDirty: Object.keys(changes).length > 0,
		change: (part) => keep(differing({ ...latest.current, ...part }, stored)),
		reset: () => keep({}),
		removeSaved: (saved) => keep(differing(latest.current, saved)),
	};
}
