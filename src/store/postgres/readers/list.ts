import type { ListPosition } from '../../readers.ts';

/** The position before every item of a list in order of creation. */
export const LIST_START: ListPosition = { at: 0, id: '' };
