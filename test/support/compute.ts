/** Takes the processor for some milliseconds. */
export function compute(ms: number): void {
	const begun = performance.now();
	while (performance.now() - begun < ms);
}
