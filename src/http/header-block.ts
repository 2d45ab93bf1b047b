const LINE_BREAK = /[\r\n\0]/;

/** Headers that many responses share, serialised once. */
export class HeaderBlock {
	/** One line per header, each preceded by a line break, as `packHeaders` appends them. */
	readonly lines: string;

	/** @throws TypeError for a name or value with a line break, which would forge another header */
	constructor(headers: ReadonlyArray<readonly [name: string, value: string]>) {
		const invalid = headers.find((pair) => pair.some((text) => LINE_BREAK.test(text)));
		if (invalid !== undefined) throw new TypeError(`The header ${JSON.stringify(invalid[0])} contains a line break.`);
		this.lines = headers.map(([name, value]) => `\r\n${name}: ${value}`).join('');
	}
}
