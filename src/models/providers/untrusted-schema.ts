import { sanitise } from './untrusted-text.ts';

/**
 * A JSON Schema as a model may read it: each text in it, the names of members included, as `sanitise` leaves it. An MCP
 * server may write what it likes there, and a model is told it beside the instructions. A call is held against the schema as
 * it was: a function whose own words were changed can only harm itself.
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
