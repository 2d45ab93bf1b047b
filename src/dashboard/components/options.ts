import { type AllRows, MAX_ROWS } from '../api/all-rows.ts';
import { fill, strings } from '../languages/index.ts';

/** One entry of a menu. */
export interface Option {
	value: string;
	label: string;
	disabled?: boolean;
}

/** The entries of a menu by name. The last one tells if there are more rows than the menu offers. */
export function optionsOf(list: AllRows<{ id: string; name: string }> | undefined): Option[] {
	if (list === undefined) return [];
	const options: Option[] = list.rows
		.map(({ id, name }) => ({ value: id, label: name }))
		.toSorted((a, b) => a.label.localeCompare(b.label));
	const limit = limitText(list);
	if (limit !== null) options.push({ value: '…', label: limit, disabled: true });
	return options;
}

/** The sentence about rows that are not listed; null if all are. */
export function limitText({ isComplete }: AllRows<unknown>): string | null {
	return isComplete ? null : fill(strings().parts.onlyNewest, { n: MAX_ROWS });
}
