import type { Kind, Records } from '../records.ts';

/** How a column stores a value: as it is, or as JSON text. */
export type Codec = 'plain' | 'json';

/** The columns of kinds of records, in the order of their tables. */
export type ColumnsOf<Kinds extends Kind> = {
	readonly [K in Kinds]: { readonly [F in keyof Required<Records[K]>]: Codec };
};
