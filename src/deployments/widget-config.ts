import { createHash } from 'node:crypto';
import type { WidgetConfig } from '../contract/index.ts';
import type { DeploymentRecord } from '../store/index.ts';
import { appearanceOf, featuresOf } from './appearance.ts';

/** The widget's configuration as sent, rendered once per change. */
export interface RenderedConfig {
	body: Buffer;
	/** Strong, quoted. */
	etag: string;
}

export function renderConfig(record: DeploymentRecord): RenderedConfig {
	const config: WidgetConfig = {
		deployment_id: record.id,
		assistant_id: record.assistant_id,
		appearance: appearanceOf(record),
		features: featuresOf(record),
		rate_limit: record.rate_limit,
	};
	const body = Buffer.from(JSON.stringify(config));
	return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}
