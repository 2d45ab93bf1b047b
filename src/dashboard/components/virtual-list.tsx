import { Virtualizer } from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

/** Rows above and below the window that are rendered, too. */
const OVERSCAN = 8;
const LISTENING = { passive: true, capture: true } as const;
/** The end is near when fewer rows follow the last rendered one. */
const NEAR_END = 30;

/**
 * A long list that scrolls with the page. Only the rows in and near the window are in the document; the others are space. Rows are
 * measured, so they may differ in height.
 */
export function VirtualList<T>({
	label,
	rows,
	isWhole,
	keyOf,
	estimatedHeight,
	children,
	onNearEnd,
}: {
	/** What the rows are, for screen readers. */
	label: string;
	rows: readonly T[];
	/** Whether these are all rows that there are. */
	isWhole: boolean;
	keyOf: (row: T) => string;
	/** Of a row (px). */
	estimatedHeight: number;
	/** The content of a row. @param at its position in the list */
	children: (row: T, at: number) => ComponentChildren;
	/** Called when the reader comes near the end: the next rows can be loaded. */
	onNearEnd?: () => void;
}) {
	const space = useRef<HTMLDivElement>(null);
	const shown = useRef<HTMLOListElement>(null);
	const [, render] = useState(0);
	const virtualizer = useMemo(() => {
		const list: Virtualizer<Window, HTMLElement> = new Virtualizer<Window, HTMLElement>({
			count: rows.length,
			overscan: OVERSCAN,
			estimateSize: () => estimatedHeight,
			getScrollElement: () => window,
			observeElementRect: (_list, report) => listen({ resize: () => report(windowSize()) }),
			observeElementOffset: (_list, report) =>
				listen({
					scrollend: () => report(offsetOf(space.current), false),
					scroll: () => report(offsetOf(space.current), true),
				}),
			scrollToFn: (offset, { adjustments = 0 }) =>
				scrollerOf(space.current).scrollBy({
					top: offset + adjustments - offsetOf(space.current),
					behavior: 'instant',
				}),
			onChange: () => render((count) => count + 1),
		});
		return list;
	}, []);
	virtualizer.setOptions({
		...virtualizer.options,
		count: rows.length,
		getItemKey: (at) => keyOf(rows[at] as T),
		estimateSize: () => estimatedHeight,
	});
	useLayoutEffect(() => virtualizer._didMount(), []);
	useLayoutEffect(() => virtualizer._willUpdate());
	const items = virtualizer.getVirtualItems();
	const height = virtualizer.getTotalSize();
	useLayoutEffect(() => {
		space.current?.style.setProperty('height', `${height}px`);
		shown.current?.style.setProperty('transform', `translateY(${items[0]?.start ?? 0}px)`);
	});
	useLayoutEffect(() => {
		if (rows.length - (items.at(-1)?.index ?? -1) <= NEAR_END) onNearEnd?.();
	});
	return (
		<div class="virtual-space" ref={space}>
			<ol class="virtual-rows" ref={shown} aria-label={label}>
				{items.map(({ index, key }) => (
					<li
						key={key}
						data-index={index}
						ref={(row) => virtualizer.measureElement(row)}
						aria-posinset={index + 1}
						aria-setsize={isWhole ? rows.length : -1}
					>
						{children(rows[index] as T, index)}
					</li>
				))}
			</ol>
		</div>
	);
}

/** Calls the first listener at once, and each with its event. @returns ends it */
function listen(listeners: Record<string, () => void>): () => void {
	const all = Object.entries(listeners);
	all[0]?.[1]();
	for (const [event, listener] of all) addEventListener(event, listener, LISTENING);
	return () => {
		for (const [event, listener] of all) removeEventListener(event, listener, LISTENING);
	};
}

/** On phones the page scrolls within `main`, whose events only a capturing listener of the window gets. */
function scrollerOf(list: HTMLElement | null): HTMLElement | Window {
	const main = list?.closest('main');
	return main && getComputedStyle(main).overflowY === 'auto' ? main : window;
}

const windowSize = () => ({ width: innerWidth, height: innerHeight });

/** How far the top of the list is above the top of the window (px). */
function offsetOf(list: HTMLElement | null): number {
	return Math.max(0, -(list?.getBoundingClientRect().top ?? 0));
}
