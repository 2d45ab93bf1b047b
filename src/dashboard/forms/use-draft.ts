import { useState } from 'preact/hooks';

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
	const keep = (next: Partial<T>) => {
		const differing = Object.entries(next).filter(([name, value]) => !isSame(value, stored[name as keyof T]));
		const kept = Object.fromEntries(differing) as Partial<T>;
		if (differing.length === 0) sessionStorage.removeItem(storageKey);
		else sessionStorage.setItem(storageKey, JSON.stringify(withoutSecrets(kept)));
		setChanges(kept);
	};
	return {
		values: { ...stored, ...changes },
		changes,
		isDirty: Object.keys(changes).length > 0,
		change: (part) => keep({ ...changes, ...part }),
		reset: () => keep({}),
	};
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
