/** The paths of the icons on a grid of 20 units, drawn with a line of 1.5 units. */
const PATHS = {
	account: 'M10 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM4 16.5a6 6 0 0 1 12 0',
	'api-keys': 'M8.5 11.5a3.5 3.5 0 1 1 1.3-1.3L16.5 16.5M13 13l2-2M6.5 8h.01',
	assistants:
		'M4 8.5A3.5 3.5 0 0 1 7.5 5h5A3.5 3.5 0 0 1 16 8.5v3a3.5 3.5 0 0 1-3.5 3.5h-5A3.5 3.5 0 0 1 4 11.5zM10 5V2.5M7.8 9.5v1M12.2 9.5v1',
	'audit-log': 'M5 3.5h10v13H5zM8 7h4M8 10h4M8 13h2',
	close: 'M5 5l10 10M15 5L5 15',
	copy: 'M7 7V4.5A1.5 1.5 0 0 1 8.5 3h7A1.5 1.5 0 0 1 17 4.5v7a1.5 1.5 0 0 1-1.5 1.5H13M3 8.5A1.5 1.5 0 0 1 4.5 7h7A1.5 1.5 0 0 1 13 8.5v7a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 3 15.5z',
	deployments:
		'M3 5.5A1.5 1.5 0 0 1 4.5 4h11A1.5 1.5 0 0 1 17 5.5v9a1.5 1.5 0 0 1-1.5 1.5h-11A1.5 1.5 0 0 1 3 14.5zM3 7.5h14M11 13h3',
	download: 'M10 3.5v9M6 9l4 4 4-4M4 16.5h12',
	folder: 'M3 6.5A1.5 1.5 0 0 1 4.5 5H8l1.5 2h6A1.5 1.5 0 0 1 17 8.5v5.5a1.5 1.5 0 0 1-1.5 1.5h-11A1.5 1.5 0 0 1 3 14z',
	done: 'M4.5 10.5l3.5 3.5 7.5-8',
	inbox: 'M3.5 11.5l2-7h9l2 7v4a1 1 0 0 1-1 1h-11a1 1 0 0 1-1-1zM3.5 11.5H7a3 3 0 0 0 6 0h3.5',
	knowledge: 'M4 4.5A1.5 1.5 0 0 1 5.5 3H16v11.5H5.5A1.5 1.5 0 0 0 4 16zM4 16a1.5 1.5 0 0 0 1.5 1.5H16v-3M7.5 6.5h5',
	link: 'M8.5 11.5l3-3M9 6l1.5-1.5a3.5 3.5 0 0 1 5 5L14 11M11 14l-1.5 1.5a3.5 3.5 0 0 1-5-5L6 9',
	more: 'M5 10h.01M10 10h.01M15 10h.01',
	overview: 'M4 16.5V9.5M8 16.5V4M12 16.5v-6M16 16.5v-9',
	pause: 'M7.5 5v10M12.5 5v10',
	people:
		'M7.5 9a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 16a4.5 4.5 0 0 1 9 0M13 9a2 2 0 1 0-.5-3.9M14 12a4 4 0 0 1 3 4',
	play: 'M7 4.5l8 5.5-8 5.5z',
	down: 'M5 8l5 5 5-5',
	plus: 'M10 4v12M4 10h12',
	privacy: 'M10 2.5l6 2v5c0 3.6-2.4 6.6-6 8-3.6-1.4-6-4.4-6-8v-5zM7.5 9.8l1.8 1.8 3.2-3.4',
	rail: 'M4.5 4h11A1.5 1.5 0 0 1 17 5.5v9a1.5 1.5 0 0 1-1.5 1.5h-11A1.5 1.5 0 0 1 3 14.5v-9A1.5 1.5 0 0 1 4.5 4zM8 4v12',
	remove: 'M4 6h12M8 6V4h4v2M5.5 6l.7 10h7.6l.7-10M8.5 9v4.5M11.5 9v4.5',
	retry: 'M15.5 10a5.5 5.5 0 1 1-1.6-3.9M14.5 3v3.5H11',
	search: 'M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM13 13l4 4',
	send: 'M10 16V4.5M5 9l5-5 5 5',
	'sign-out': 'M8 3.5H5A1.5 1.5 0 0 0 3.5 5v10A1.5 1.5 0 0 0 5 16.5h3M12.5 13.5L16 10l-3.5-3.5M16 10H8',
	stop: 'M6 6h8v8H6z',
	text: 'M5 5h10M5 9h10M5 13h6',
	tools:
		'M12.5 3.5a4 4 0 0 0-3.8 5.2L3.5 13.9a1.8 1.8 0 0 0 2.6 2.6l5.2-5.2a4 4 0 0 0 5.2-4.9l-2.4 2.4-2.1-.8-.8-2.1 2.4-2.3a4 4 0 0 0-1.1-.1z',
	upload: 'M10 13V4M6 7.5L10 3.5l4 4M4 16.5h12',
	webhooks:
		'M7.5 9.2a3.3 3.3 0 1 1 4.9-.6l1.9 3.4M5.9 9.6a3.3 3.3 0 1 0 2.9 4.6h4M14 10.8a3.3 3.3 0 1 1-2.6 5.5M10 6.5l-2.6 4.6',
	workspace: 'M4 17V5.5L10 3l6 2.5V17M2.5 17h15M8 17v-3.5h4V17M7.5 8h.01M12.5 8h.01M7.5 10.5h.01M12.5 10.5h.01',
	up: 'M5 12l5-5 5 5',
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
