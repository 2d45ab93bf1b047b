import { createHash } from 'node:crypto';

const MAX_LENGTH = 64;
const HASH_LENGTH = 8;
const FORBIDDEN_CHARACTERS = /[^a-zA-Z0-9_-]/g;

/**
 * The name of an MCP server's function: prefixed with the name of its tool, so that two servers may each have a `search`.
 * Characters that model providers reject become `_`; a long name is cut and gets a hash of the whole name.
 */
export function mcpFunctionName(toolName: string, functionName: string): string {
	const whole = `${toolName}_${functionName}`;
	const name = whole.replaceAll(FORBIDDEN_CHARACTERS, '_');
	if (name.length <= MAX_LENGTH) return name;
	const hash = createHash('sha256').update(whole).digest('hex').slice(0, HASH_LENGTH);
	return `${name.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`;
}

/** The names of the functions of one reply: of two equal names, the later one gets a number. */
export class FunctionNames {
	readonly #reserved = new Set<string>();

	/** The name, or its first free numbered variant. */
	reserve(name: string): string {
		let free = name;
		for (let number = 2; this.#reserved.has(free); number++) {
			const suffix = `_${number}`;
			free = name.slice(0, MAX_LENGTH - suffix.length) + suffix;
		}
		this.#reserved.add(free);
		return free;
	}
}
