import { optionsOf } from './page/options.ts';
import { register, registered } from './page/registry.ts';
import { createWidget } from './widget.ts';

// What a script tag brings onto a page: see the README for its attributes.
const script = document.currentScript as HTMLScriptElement | null;
const options = script && optionsOf(script);
if (!options) console.warn('Parley: the script tag needs the attribute data-deployment-id.');
else if (!registered(options.deploymentId)) register(createWidget(options));
