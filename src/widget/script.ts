import { optionsOf } from './page/options.ts';
import { findWidget, register } from './page/registry.ts';
import { scriptOwnershipOf } from './page/script-ownership.ts';
import { createWidget } from './widget.ts';

// The widget as a script tag. docs/widget.md describes its attributes.
const script = document.currentScript as HTMLScriptElement | null;
const options = script && optionsOf(script);
if (!options) console.warn('Parley: the script tag needs the attribute data-deployment-id.');
// Does nothing if the tag was removed before it ran.
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
