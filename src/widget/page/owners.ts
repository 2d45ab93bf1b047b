import type { Widget } from '../public.d.ts';
import { whenRemoved } from './presence.ts';

/** Where a widget made by a script tag keeps what the tags that come later must know of it: each has a scope of its own. */
const TIES = Symbol.for('parley.ties');

/** What ties a widget to the page. */
interface Ties {
	/** Whether the page has removed its element. */
	isRemoved(): boolean;
	/** Makes a script tag one of its owners: it is destroyed when all of them have left the page. */
	own(script: HTMLScriptElement): void;
}

type Tied = Widget & { [TIES]?: Ties };

/**
 * Ties a widget to the tags that own it.
 * @param signal ends with the widget
 */
export function tie(widget: Widget, isRemoved: () => boolean, signal: AbortSignal): void {
	const owners = new Set<HTMLScriptElement>();
	const release = (script: HTMLScriptElement) => {
		owners.delete(script);
		if (owners.size === 0) widget.destroy();
	};
	(widget as Tied)[TIES] = {
		isRemoved,
		own(script) {
			// Loaders of scripts may remove a tag as soon as it has run; only one that stays is an owner.
			setTimeout(() => {
				if (signal.aborted || !script.isConnected) return;
				owners.add(script);
				whenRemoved(script, () => release(script), signal);
			});
		},
	};
}

/** The ties of a widget; absent where a script of an older version made it. */
export function tiesOf(widget: Widget): Ties | undefined {
	return (widget as Tied)[TIES];
}
