import { exceedsDepth } from '../base/index.ts';
import { refusedAt } from './refusal.ts';

const MAX_CHARACTERS = 32_768;
const MAX_DEPTH = 32;

/**
 * Holds each member of a configuration against what anybody needs of it, before anything is done that costs by its size or
 * goes into its depth.
 * @throws AppError `invalid_request`
 */
export function requireBounds(config: Record<string, unknown>): void {
	for (const [name, member] of Object.entries(config)) {
		if (exceedsDepth(member, MAX_DEPTH)) throw refusedAt(['config', name], `is nested deeper than ${MAX_DEPTH} levels`);
		if (member !== undefined && JSON.stringify(member).length > MAX_CHARACTERS) {
			throw refusedAt(['config', name], `is larger than ${MAX_CHARACTERS} characters`);
		}
	}
}
