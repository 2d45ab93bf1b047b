import { optionsOf } from './page/options.ts';
import { tiesOf } from './page/owners.ts';
import { register, registered } from './page/registry.ts';
import { createWidget } from './widget.ts';

// What a script tag brings onto a page: see docs/widget.md for its attributes.
const script = document.currentScript as HTMLScriptElement | null;
const options = script && optionsOf(script);
if (!options) console.warn('Parley: the script tag needs the attribute data-deployment-id.');
// A tag that was removed before it ran is not wanted any more.
else if (script.isConnected) {
	let widget = registered(options.deploymentId);
	if (widget && tiesOf(widget)?.isRemoved()) {
		widget.destroy();
		widget = undefined;
	}
	if (!widget) {
		widget = createWidget(options);
		register(widget);
	}
	tiesOf(widget)?.own(script);
}
