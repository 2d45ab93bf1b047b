import type { Widget } from '../public.d.ts';
import { whenRemoved } from './when-removed.ts';

/** Where a widget made by a script tag keeps what the tags that come later must know of it: each has a scope of its own. */
const SCRIPT_OWNERSHIP = Symbol.for('parley.ties');

/** What ties a widget to the page. */
interface ScriptOwnership {
	/** Whether the page has removed its element. */
	isRemoved(): boolean;
	/** Makes a script tag one of its owners: it is destroyed when all of them have left the page. */
	addOwner(script: HTMLScriptElement): void;
}

type BoundWidget = Widget & { [SCRIPT_OWNERSHIP]?: ScriptOwnership };

/**
 * Ties a widget to the tags that own it.
 * @param signal ends with the widget
 */
export function bindToScripts(widget: Widget, isRemoved: () => boolean, signal: AbortSignal): void {
	const owners = new Set<HTMLScriptElement>();
	const release = (script: HTMLScriptElement) => {
		owners.delete(script);
		if (owners.size === 0) widget.destroy();
	};
	(widget as BoundWidget)[SCRIPT_OWNERSHIP] = {
		isRemoved,
		addOwner(script) {
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
export function scriptOwnershipOf(widget: Widget): ScriptOwnership | undefined {
	return (widget as BoundWidget)[SCRIPT_OWNERSHIP];
}
