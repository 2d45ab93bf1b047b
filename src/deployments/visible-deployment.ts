import { AppError } from '../base/index.ts';
import type { DeploymentRecord } from '../store/index.ts';
import type { RenderedConfig } from './widget-config.ts';

/** A deployment as a visitor's request sees it. */
export interface VisibleDeployment {
	readonly record: DeploymentRecord;
	readonly config: RenderedConfig;
	/** @param origin null where the request names none, which is never allowed */
	allows(origin: string | null): boolean;
}

/** The same error for an id that is unknown, malformed, of another workspace or, for visitors, archived. */
export function noSuchDeployment(): AppError {
	return new AppError('not_found', 'The deployment does not exist.');
}
