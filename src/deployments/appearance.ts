import type { Appearance, Features } from '../contract/index.ts';
import type { DeploymentRecord } from '../store/index.ts';

/** What deployments have that were stored before these settings existed, or that do not set them. */
const DEFAULT_APPEARANCE = {
	assistant_name: null,
	status_text: null,
	logo_url: null,
	privacy_url: null,
	disclosure_text: null,
	font_family: 'system',
	radius: 'medium',
} as const satisfies Partial<Appearance>;

/** How a deployment's widget looks, with the defaults of what it does not set. */
export function appearanceOf({ appearance }: DeploymentRecord): Appearance {
	return { ...DEFAULT_APPEARANCE, ...appearance };
}

/** What a deployment's widget does, with the defaults of what it does not set. */
export function featuresOf({ features }: DeploymentRecord): Features {
	return { ai_disclosure: true, ...features };
}
