import { useRef, useState } from 'preact/hooks';

/** The values of a form with the changes that are not saved. */
export interface Draft<T extends object> {
	/** The stored values with the changes. */
	values: T;
	/** The changes alone: what a PATCH sends. */
	changes: Partial<T>;
	isDirty: boolean;
	change(part: Partial<T>): void;
	/** Forgets the changes. */
	reset(): void;
	/** Forgets changes that were saved. What was changed again meanwhile stays. */
	removeSaved(saved: Partial<T>): void;
}

/**
 * The draft of a form. Unsaved changes stay in this tab when the person looks at another page, reloads, or signs in again.
 * @param key the resource, for example `assistants/asst_1`
 * @param stored the values of the server
 * @param withoutSecrets the changes that stay in the tab: secrets are not kept
 */
export function useDraft<T extends object>(
	key: string,
	stored: T,
	withoutSecrets: (changes: Partial<T>) => Partial<T> = (changes) => changes,
): Draft<T> {
	const storageKey = `parley-draft:${key}`;
	const [changes, setChanges] = useState<Partial<T>>(() => readDraft(storageKey));
	/** With the changes of this rendering: the next one comes later. */
	const latest = useRef(changes);
	const keep = (next: Partial<T>) => {
		latest.current = next;
		if (Object.keys(next).length === 0) sessionStorage.removeItem(storageKey);
		else sessionStorage.setItem(storageKey, JSON.stringify(withoutSecrets(next)));
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

/** The members whose values are others than in `base`. */
export function differing<T extends object>(changes: Partial<T>, base: Partial<T>): Partial<T> {
	const entries = Object.entries(changes).filter(([name, value]) => !isSame(value, base[name as keyof T]));
	return Object.fromEntries(entries) as Partial<T>;
}

function readDraft<T>(key: string): Partial<T> {
	try {
		return JSON.parse(sessionStorage.getItem(key) ?? '{}') as Partial<T>;
	} catch {
		return {};
	}
}

function isSame(a: unknown, b: unknown): boolean {
	return JSON.stringify(a) === JSON.stringify(b);
}
