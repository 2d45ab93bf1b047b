import type { Appearance, Features } from '../contract/index.ts';
import type { DeploymentRecord } from '../store/index.ts';

/** Defaults of settings that a deployment does not have, for example because it is older than they are. */
const DEFAULT_APPEARANCE = {
	assistant_name: null,
	status_text: null,
	logo_url: null,
	privacy_url: null,
	disclosure_text: null,
	font_family: 'system',
	radius: 'medium',
} as const satisfies Partial<Appearance>;

/** The appearance of a deployment's widget, with defaults. */
export function appearanceOf({ appearance }: DeploymentRecord): Appearance {
	return { ...DEFAULT_APPEARANCE, ...appearance };
}

/** The features of a deployment's widget, with defaults. */
export function featuresOf({ features }: DeploymentRecord): Features {
	return { ai_disclosure: true, handoff: false, ...features };
}
