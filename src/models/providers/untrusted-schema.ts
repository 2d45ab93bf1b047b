import { sanitise } from './untrusted-text.ts';

/**
 * A JSON Schema for a model: `sanitise` is applied to each text in it, including the names of members. An MCP server may
 * write any text there, and the model reads it next to the instructions. Calls are validated against the original schema, so
 * a function whose texts were changed can only harm itself.
 */
export function sanitiseSchema(schema: object): object {
	return sanitiseValue(schema) as object;
}

function sanitiseValue(value: unknown): unknown {
	if (typeof value === 'string') return sanitise(value);
	if (typeof value !== 'object' || value === null) return value;
	if (Array.isArray(value)) return value.map(sanitiseValue);
	return Object.fromEntries(Object.entries(value).map(([name, member]) => [sanitise(name), sanitiseValue(member)]));
}
