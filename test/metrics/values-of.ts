/** The values of a metric by its labels, as they are written. */
export function valuesOf(text: string, name: string): Record<string, number> {
	const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
	return Object.fromEntries(
		lines.map((line) => {
			const at = line.lastIndexOf(' ');
			return [line.slice(name.length, at), Number(line.slice(at + 1))];
		}),
	);
}
