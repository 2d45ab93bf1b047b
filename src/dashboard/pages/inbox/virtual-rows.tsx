import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';

const OVERSCAN = 8;

/** The rows of a long list that are in view, each at its place. The heights are known, so nothing is measured. */
export function VirtualRows({
	scroller,
	count,
	heightOf,
	label,
	children,
	onRange,
	reveal,
}: {
	scroller: RefObject<HTMLElement | null>;
	count: number;
	heightOf: (index: number) => number;
	label: string;
	children: (index: number) => ComponentChildren;
	/** Called with the index of the last row in view. */
	onRange: (last: number) => void;
	/** The row that must be in view when `key` changes; -1: none. */
	reveal: { key: string | undefined; index: number };
}) {
	const [, render] = useState(0);
	const options = {
		count,
		getScrollElement: () => scroller.current,
		estimateSize: heightOf,
		overscan: OVERSCAN,
		observeElementRect,
		observeElementOffset,
		scrollToFn: elementScroll,
		onChange: () => render((renders) => renders + 1),
	};
	const rows = useMemo(() => new Virtualizer<HTMLElement, HTMLElement>(options), []);
	rows.setOptions(options);
	useLayoutEffect(() => rows._didMount(), []);
	useLayoutEffect(() => rows._willUpdate());
	useLayoutEffect(() => rows.measure(), [count]);
	useLayoutEffect(() => {
		if (reveal.index >= 0) rows.scrollToIndex(reveal.index, { align: 'auto' });
	}, [reveal.key]);
	const items = rows.getVirtualItems();
	const last = items.at(-1)?.index ?? -1;
	useLayoutEffect(() => onRange(last), [last, count]);
	return (
		<ul
			class="positioned-rows"
			aria-label={label}
			ref={(list) => list?.style.setProperty('height', `${rows.getTotalSize()}px`)}
		>
			{items.map(({ index, start, size }) => (
				<li
					key={index}
					aria-setsize={count}
					aria-posinset={index + 1}
					ref={(row) => {
						row?.style.setProperty('transform', `translateY(${start}px)`);
						row?.style.setProperty('height', `${size}px`);
					}}
				>
					{children(index)}
				</li>
			))}
		</ul>
	);
}
