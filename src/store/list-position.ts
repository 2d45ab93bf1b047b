/** The item after which a page begins, in the list's order. `at` is `seq` for messages and `created_at` for most other kinds. */
export interface ListPosition {
	at: number;
	id: string;
}
