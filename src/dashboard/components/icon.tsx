/** The paths of the icons on a grid of 20 units, drawn with a line of 1.5 units. */
const PATHS = {
	assistants:
		'M4 8.5A3.5 3.5 0 0 1 7.5 5h5A3.5 3.5 0 0 1 16 8.5v3a3.5 3.5 0 0 1-3.5 3.5h-5A3.5 3.5 0 0 1 4 11.5zM10 5V2.5M7.8 9.5v1M12.2 9.5v1',
	chevron: 'M8 5l5 5-5 5',
	close: 'M5 5l10 10M15 5L5 15',
	copy: 'M7 7V4.5A1.5 1.5 0 0 1 8.5 3h7A1.5 1.5 0 0 1 17 4.5v7a1.5 1.5 0 0 1-1.5 1.5H13M3 8.5A1.5 1.5 0 0 1 4.5 7h7A1.5 1.5 0 0 1 13 8.5v7a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 3 15.5z',
	deployments:
		'M2.5 5.5A1.5 1.5 0 0 1 4 4h12a1.5 1.5 0 0 1 1.5 1.5v9A1.5 1.5 0 0 1 16 16H4a1.5 1.5 0 0 1-1.5-1.5zM2.5 7.5h15M12 11.5h2.5v2H12z',
	document:
		'M5 3.5A1.5 1.5 0 0 1 6.5 2H12l3.5 3.5v11A1.5 1.5 0 0 1 14 18H6.5A1.5 1.5 0 0 1 5 16.5zM12 2v3.5h3.5M8 10h5M8 13h5',
	inbox:
		'M3 11.5l2-6.2A2 2 0 0 1 6.9 4h6.2A2 2 0 0 1 15 5.3l2 6.2v3A1.5 1.5 0 0 1 15.5 16h-11A1.5 1.5 0 0 1 3 14.5zM3 11.5h4l1 2h4l1-2h4',
	knowledge: 'M10 5.5C8.5 4.3 6.2 4 3 4v11c3.2 0 5.5.3 7 1.5 1.5-1.2 3.8-1.5 7-1.5V4c-3.2 0-5.5.3-7 1.5zM10 5.5v11',
	link: 'M8.5 11.5l3-3M7.5 8.5L5.6 10.4a2.8 2.8 0 0 0 4 4l1.9-1.9M12.5 11.5l1.9-1.9a2.8 2.8 0 0 0-4-4L8.5 7.5',
	plus: 'M10 4v12M4 10h12',
	retry: 'M15.5 10a5.5 5.5 0 1 1-1.6-3.9M14.5 3v3.5H11',
	search: 'M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM13 13l4 4',
	send: 'M10 16V4.5M5 9l5-5 5 5',
	'sign-out': 'M8 3.5H5A1.5 1.5 0 0 0 3.5 5v10A1.5 1.5 0 0 0 5 16.5h3M12.5 13.5L16 10l-3.5-3.5M16 10H8',
	stop: 'M6 6h8v8H6z',
	trash: 'M4 6h12M8 6V4h4v2M5.5 6l.7 9.6A1.5 1.5 0 0 0 7.7 17h4.6a1.5 1.5 0 0 0 1.5-1.4l.7-9.6',
	upload: 'M10 13V4M6.5 7L10 3.5 13.5 7M4 13v2.5A1.5 1.5 0 0 0 5.5 17h9a1.5 1.5 0 0 0 1.5-1.5V13',
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
