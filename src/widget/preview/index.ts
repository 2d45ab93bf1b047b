import type { WidgetConfig } from '../../contract/index.ts';
import type { Widget } from '../public.d.ts';
import { createWidget } from '../widget.ts';
import { type Look, lookOf } from './look.ts';
import { createOperatorFetch } from './operator-fetch.ts';

// The page in the frame of the dashboard's editor: the widget with a look that is not stored yet.

/** Tells the editor that looks can be sent. */
const READY = 'parley:preview-ready';

const base = new URL('..', location.href).href;
const deploymentId = new URLSearchParams(location.search).get('deployment_id') ?? '';
/** What the widget gets in place of the deployment's id: it names what the browser stores, apart from that of visitors' pages. */
const storageName = `preview:${deploymentId}`;

let widget: Widget | null = null;
let shown: Look | null = null;
let apply: (config: WidgetConfig) => void = () => {};

/** Changes the look of the widget. The chat reads some settings only when it begins, so these need another widget. */
function show(look: Look): void {
	document.documentElement.dataset.scheme = look.scheme;
	const needsAnother = look.language !== shown?.language || look.features.streaming !== shown.features.streaming;
	shown = look;
	if (widget !== null && !needsAnother) {
		apply(configOf(look));
		return;
	}
	widget?.destroy();
	const options = { deploymentId: storageName, baseUrl: base, open: true, language: look.language ?? undefined };
	widget = createWidget(options, {
		fetchConfig: async () => configOf(shown ?? look),
		onChanged: (listener) => {
			apply = listener;
		},
		fetch: createOperatorFetch(base, deploymentId),
	});
}

function configOf({ appearance, features }: Look): WidgetConfig {
	return {
		deployment_id: storageName,
		assistant_id: '',
		appearance,
		features: { ...features, jwt_required: false },
		rate_limit: { messages_per_minute: 1 },
	};
}

// Alone in a tab the page does nothing: no other window can send it a look.
if (window.parent !== window) {
	addEventListener('message', ({ origin, source, data }) => {
		if (origin !== location.origin || source !== window.parent) return;
		const look = lookOf(data);
		if (look !== null) show(look);
	});
	window.parent.postMessage({ type: READY }, location.origin);
}
