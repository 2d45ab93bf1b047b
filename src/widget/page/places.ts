export type Side = 'bottom-right' | 'bottom-left';

/** The same for all scripts of a page, also for those of two servers. */
const TAKEN = Symbol.for('parley.places');

/** Takes the place next to the corner that is free, for a button; the result gives it back. */
export function takePlace(side: Side): { place: number; isShared(): boolean; leave(): void } {
	const page = window as unknown as Record<symbol, Record<Side, Set<number>> | undefined>;
	page[TAKEN] ??= { 'bottom-right': new Set(), 'bottom-left': new Set() };
	const taken = page[TAKEN][side];
	let place = 0;
	while (taken.has(place)) place++;
	taken.add(place);
	return { place, isShared: () => taken.size > 1, leave: () => void taken.delete(place) };
}
