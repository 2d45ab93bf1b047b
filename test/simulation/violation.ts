/** The documented behaviour was broken. */
export class Violation extends Error {
	constructor(message: string) {
		super(message);
		this.name = 'Violation';
	}
}

export function require(condition: boolean, message: () => string): asserts condition {
	if (!condition) throw new Violation(message());
}
