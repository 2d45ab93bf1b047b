export type Side = 'bottom-right' | 'bottom-left';

/** The same for all scripts of a page, also for those of two servers. */
const TAKEN = Symbol.for('parley.places');

/** A button's place in the row of buttons at a corner of the page. */
export interface Spot {
	/** Takes the free place next to the corner on this side, unless it has one there. */
	take(side: Side): void;
	/** Whether other buttons are on its side. */
	isShared(): boolean;
	leave(): void;
}

/** @param frame is told the side and the place, for the style sheet */
export function createSpot(frame: HTMLElement): Spot {
	const page = window as unknown as Record<symbol, Record<Side, Set<number>>>;
	const { dataset, style } = frame;
	let taken: Set<number> | null = null;
	let place = 0;
	const leave = () => {
		taken?.delete(place);
		taken = null;
		delete dataset.side;
	};
	return {
		take(side) {
			if (dataset.side === side) return;
			leave();
			page[TAKEN] ??= { 'bottom-right': new Set(), 'bottom-left': new Set() };
			taken = page[TAKEN][side];
			place = 0;
			while (taken.has(place)) place++;
			taken.add(place);
			dataset.side = side;
			style.setProperty('--shift', String(place));
		},
		isShared: () => (taken?.size ?? 0) > 1,
		leave,
	};
}
