export type Side = 'bottom-right' | 'bottom-left';

/** The same for all scripts of a page, also for those of two servers. */
const RESERVED_CORNERS = Symbol.for('parley.places');

/** A button's place in the row of buttons at a corner of the page. */
export interface LauncherCorner {
	/** Takes the free place next to the corner on this side, unless it has one there. */
	reserve(side: Side): void;
	/** Whether other buttons are on its side. */
	isShared(): boolean;
	release(): void;
}

/** @param frame is told the side and the place, for the style sheet */
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
