import type { Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../../base/index.ts';
import { type ArgumentCheckRunner, ArgumentValidator } from '../argument-validator.ts';
import { requireSizeLimits } from '../size-limits.ts';

const MAX_NAME_LENGTH = 128;
const MAX_DESCRIPTION_LENGTH = 4_000;

/** A function of an MCP server, under the server's name for it. */
export interface McpFunction {
	name: string;
	description: string | null;
	/** JSON Schema of an object. */
	parameters: Record<string, unknown>;
	check: ArgumentValidator;
}

/**
 * The usable functions of a server's list: without those that are too large for a model, and only the first of each name.
 */
export function mcpFunctionsOf(
	listed: readonly ListedTool[],
	deps: { checker: ArgumentCheckRunner; clock: Clock },
): McpFunction[] {
	const functions = new Map<string, McpFunction>();
	for (const { name, description, inputSchema, execution } of listed) {
		// The results of tasks must be polled: a reply does not wait for that.
		if (execution?.taskSupport === 'required') continue;
		if (name === '' || name.length > MAX_NAME_LENGTH || functions.has(name) || !isWithinLimits(inputSchema)) continue;
		functions.set(name, {
			name,
			description: description?.slice(0, MAX_DESCRIPTION_LENGTH) ?? null,
			parameters: inputSchema,
			// Servers validate arguments themselves: a recursive schema is no reason to omit a function.
			check: new ArgumentValidator(inputSchema, deps, true),
		});
	}
	return [...functions.values()];
}

function isWithinLimits(schema: Record<string, unknown>): boolean {
	try {
		requireSizeLimits({ parameters: schema });
		return true;
	} catch {
		return false;
	}
}
