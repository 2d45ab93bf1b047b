/** A size for people: `40.2 MiB`. */
export function formatBytes(bytes: number): string {
	const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
	const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
	return `${Number((bytes / 1_024 ** power).toFixed(1))} ${units[power]}`;
}
