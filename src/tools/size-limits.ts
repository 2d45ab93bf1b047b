import { exceedsDepth } from '../base/index.ts';
import { invalidRequestAt } from './invalid-request.ts';

const MAX_CONFIG_CHARACTERS = 32_768;
const MAX_CONFIG_DEPTH = 32;

/**
 * Checks the size and depth of each member of a configuration, before any work whose cost grows with them.
 * @throws AppError `invalid_request`
 */
export function requireSizeLimits(config: Record<string, unknown>): void {
	for (const [name, member] of Object.entries(config)) {
		if (exceedsDepth(member, MAX_CONFIG_DEPTH))
			throw invalidRequestAt(['config', name], `is nested deeper than ${MAX_CONFIG_DEPTH} levels`);
		if (member !== undefined && JSON.stringify(member).length > MAX_CONFIG_CHARACTERS) {
			throw invalidRequestAt(['config', name], `is larger than ${MAX_CONFIG_CHARACTERS} characters`);
		}
	}
}
