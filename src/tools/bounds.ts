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
		if (isDeeper(member, MAX_DEPTH)) throw refusedAt(['config', name], `is nested deeper than ${MAX_DEPTH} levels`);
		if (member !== undefined && JSON.stringify(member).length > MAX_CHARACTERS) {
			throw refusedAt(['config', name], `is larger than ${MAX_CHARACTERS} characters`);
		}
	}
}

/** Level by level: nothing here can overflow the stack. */
export function isDeeper(value: unknown, levels: number): boolean {
	let level = [value].filter(isNested);
	for (let depth = 0; level.length > 0; depth++) {
		if (depth === levels) return true;
		level = level.flatMap((holder) => Object.values(holder).filter(isNested));
	}
	return false;
}

function isNested(value: unknown): value is object {
	return typeof value === 'object' && value !== null;
}
