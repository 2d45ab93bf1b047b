/** An unknown id of the same kind. */
export function unknownId(id: string): string {
	return `${id.slice(0, id.indexOf('_') + 1)}${'0'.repeat(32)}`;
}
