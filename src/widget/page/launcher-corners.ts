export type Side = 'bottom-right' | 'bottom-left';

/** Shared by all widget scripts of a page, also from different servers. */
const RESERVED_CORNERS = Symbol.for('parley.places');

/** The position of a button in the row of buttons at a corner of the page. */
export interface LauncherCorner {
	/** Reserves the free position nearest to the corner on this side, unless it has one on this side. */
	reserve(side: Side): void;
	/** Whether other buttons are on the same side. */
	isShared(): boolean;
	release(): void;
}

/** @param frame gets the side and the position, for the style sheet */
export function createLauncherCorner(frame: HTMLElement): LauncherCorner {
	const page = window as unknown as Record<symbol, Record<Side, Set<number>>>;
	const { dataset, style } = frame;
	let reserved: Set<number> | null = null;
	let index = 0;
	const release = () => {
		reserved?.delete(index);
		reserved = null;
		delete dataset.side;
	};
	return {
		reserve(side) {
			if (dataset.side === side) return;
			release();
			page[RESERVED_CORNERS] ??= { 'bottom-right': new Set(), 'bottom-left': new Set() };
			reserved = page[RESERVED_CORNERS][side];
			index = 0;
			while (reserved.has(index)) index++;
			reserved.add(index);
			dataset.side = side;
			style.setProperty('--shift', String(index));
		},
		isShared: () => (reserved?.size ?? 0) > 1,
		release,
	};
}
