import type { Parley, Widget } from '../public.d.ts';

interface Registry extends Parley {
	add(widget: Widget): void;
}

declare global {
	interface Window {
		Parley?: Registry;
	}
}

/** The widget of a deployment, if the page has one. */
export function findWidget(deploymentId: string): Widget | undefined {
	return registry()?.get(deploymentId);
}

/**
 * Publishes a widget as `window.Parley`, or adds it to the existing list: a page may have several widgets, also from scripts of
 * different servers.
 */
export function register(widget: Widget): void {
	const found = registry() ?? createRegistry();
	window.Parley = found;
	found.add(widget);
	dispatchEvent(new CustomEvent('parley:loaded', { detail: widget }));
}

/** The page may have something else with this name, such as an element with this id. */
function registry(): Registry | undefined {
	return Object.hasOwn(window, 'Parley') && Array.isArray(window.Parley?.widgets) ? window.Parley : undefined;
}

function createRegistry(): Registry {
	const widgets: Widget[] = [];
	const first = (): Widget => {
		const [widget] = widgets;
		if (!widget) throw new Error('There is no Parley widget on this page.');
		return widget;
	};
	return {
		widgets,
		get: (deploymentId) => widgets.find((widget) => !deploymentId || widget.deploymentId === deploymentId),
		add(widget) {
			widgets.push(widget);
			const { destroy } = widget;
			widget.destroy = () => {
				destroy();
				const at = widgets.indexOf(widget);
				if (at >= 0) widgets.splice(at, 1);
			};
		},
		get deploymentId() {
			return first().deploymentId;
		},
		open: () => first().open(),
		close: () => first().close(),
		send: (text) => first().send(text),
		identify: (jwt) => first().identify(jwt),
		on: (event, listener) => first().on(event, listener),
		destroy: () => first().destroy(),
	};
}
