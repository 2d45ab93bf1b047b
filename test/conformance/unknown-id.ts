/** An id of the same kind that names nothing. */
export function unknownId(id: string): string {
	return `${id.slice(0, id.indexOf('_') + 1)}${'0'.repeat(32)}`;
}
