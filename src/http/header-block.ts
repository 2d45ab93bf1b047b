const LINE_BREAK = /[\r\n\0]/;

/** Headers as they go over the wire, made once for many answers: each call of the HTTP library costs as much as all its bytes. */
export class HeaderBlock {
	/** Lines, each behind a line break: what comes before ends without one. */
	readonly lines: string;

	/** @throws TypeError for a header that would break out of its line */
	constructor(headers: ReadonlyArray<readonly [name: string, value: string]>) {
		const invalid = headers.find((pair) => pair.some((text) => LINE_BREAK.test(text)));
		if (invalid !== undefined) throw new TypeError(`The header ${JSON.stringify(invalid[0])} is broken.`);
		this.lines = headers.map(([name, value]) => `\r\n${name}: ${value}`).join('');
	}
}
