import type { Parley, Widget } from '../public.d.ts';

declare global {
	interface Window {
		Parley?: Parley & { add(widget: Widget): void };
	}
}

/**
 * Makes a widget known as `window.Parley`, or beside the one that is there: a page may hold several, also from scripts of
 * two servers.
 */
export function register(widget: Widget): void {
	window.Parley ??= createRegistry();
	window.Parley.add(widget);
	dispatchEvent(new CustomEvent('parley:loaded', { detail: widget }));
}

function createRegistry(): NonNullable<Window['Parley']> {
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
