/** The paths of the icons on a grid of 20 units, drawn with a line of 1.5 units. */
const PATHS = {
	assistants:
		'M4 8.5A3.5 3.5 0 0 1 7.5 5h5A3.5 3.5 0 0 1 16 8.5v3a3.5 3.5 0 0 1-3.5 3.5h-5A3.5 3.5 0 0 1 4 11.5zM10 5V2.5M7.8 9.5v1M12.2 9.5v1',
	close: 'M5 5l10 10M15 5L5 15',
	copy: 'M7 7V4.5A1.5 1.5 0 0 1 8.5 3h7A1.5 1.5 0 0 1 17 4.5v7a1.5 1.5 0 0 1-1.5 1.5H13M3 8.5A1.5 1.5 0 0 1 4.5 7h7A1.5 1.5 0 0 1 13 8.5v7a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 3 15.5z',
	plus: 'M10 4v12M4 10h12',
	retry: 'M15.5 10a5.5 5.5 0 1 1-1.6-3.9M14.5 3v3.5H11',
	send: 'M10 16V4.5M5 9l5-5 5 5',
	'sign-out': 'M8 3.5H5A1.5 1.5 0 0 0 3.5 5v10A1.5 1.5 0 0 0 5 16.5h3M12.5 13.5L16 10l-3.5-3.5M16 10H8',
	stop: 'M6 6h8v8H6z',
} as const;

export type IconName = keyof typeof PATHS;

/** A picture beside a label, or in a button that has an accessible name. */
export function Icon({ name }: { name: IconName }) {
	return (
		<svg class="icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
			<path d={PATHS[name]} />
		</svg>
	);
}
