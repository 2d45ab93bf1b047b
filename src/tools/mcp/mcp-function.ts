import type { Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../../base/index.ts';
import { type ArgumentCheckRunner, ArgumentValidator } from '../argument-validator.ts';
import { requireSizeLimits } from '../size-limits.ts';

const MAX_NAME_LENGTH = 128;
const MAX_DESCRIPTION_LENGTH = 4_000;

/** A function that an MCP server offers, under its own name. */
export interface McpFunction {
	name: string;
	description: string | null;
	/** JSON Schema of an object. */
	parameters: Record<string, unknown>;
	check: ArgumentValidator;
}

/**
 * What a server lists, as far as it is of use: without what is too large for a model to be told, and of two of one name
 * only the first.
 */
export function mcpFunctionsOf(
	listed: readonly ListedTool[],
	deps: { checker: ArgumentCheckRunner; clock: Clock },
): McpFunction[] {
	const functions = new Map<string, McpFunction>();
	for (const { name, description, inputSchema, execution } of listed) {
		// Results of tasks are fetched later, over time: no reply waits for that.
		if (execution?.taskSupport === 'required') continue;
		if (name === '' || name.length > MAX_NAME_LENGTH || functions.has(name) || !isWithinLimits(inputSchema)) continue;
		functions.set(name, {
			name,
			description: description?.slice(0, MAX_DESCRIPTION_LENGTH) ?? null,
			parameters: inputSchema,
			// Servers check what they are sent: a schema that leads back to itself is no reason to leave a function out.
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
