import type { Widget } from '../public.d.ts';
import { whenRemoved } from './when-removed.ts';

/** Key for the state that a widget shares with later script tags, each of which runs in its own scope. */
const SCRIPT_OWNERSHIP = Symbol.for('parley.ties');

/** Connects a widget to the script tags that own it. */
interface ScriptOwnership {
	/** Whether the page has removed its element. */
	isRemoved(): boolean;
	/** Adds a script tag as an owner. The widget is destroyed when all owners have left the page. */
	addOwner(script: HTMLScriptElement): void;
}

type BoundWidget = Widget & { [SCRIPT_OWNERSHIP]?: ScriptOwnership };

/**
 * Connects a widget to the script tags that own it.
 * @param signal aborts when the widget is destroyed
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
			// Script loaders may remove a tag as soon as it has run. Only a tag that stays is an owner.
			setTimeout(() => {
				if (signal.aborted || !script.isConnected) return;
				owners.add(script);
				whenRemoved(script, () => release(script), signal);
			});
		},
	};
}

/** The ownership state of a widget; undefined if a script of an older version created it. */
export function scriptOwnershipOf(widget: Widget): ScriptOwnership | undefined {
	return (widget as BoundWidget)[SCRIPT_OWNERSHIP];
}
