import { optionsOf } from './page/options.ts';
import { findWidget, register } from './page/registry.ts';
import { scriptOwnershipOf } from './page/script-ownership.ts';
import { createWidget } from './widget.ts';

// What a script tag brings onto a page: see docs/widget.md for its attributes.
const script = document.currentScript as HTMLScriptElement | null;
const options = script && optionsOf(script);
if (!options) console.warn('Parley: the script tag needs the attribute data-deployment-id.');
// A tag that was removed before it ran is not wanted any more.
else if (script.isConnected) {
	let widget = findWidget(options.deploymentId);
	if (widget && scriptOwnershipOf(widget)?.isRemoved()) {
		widget.destroy();
		widget = undefined;
	}
	if (!widget) {
		widget = createWidget(options);
		register(widget);
	}
	scriptOwnershipOf(widget)?.addOwner(script);
}
