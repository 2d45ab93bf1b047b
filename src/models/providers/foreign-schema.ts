import { defused } from './foreign-text.ts';

/**
 * A JSON Schema as a model may read it: each text in it, the names of members included, as `defused` leaves it. An MCP
 * server may write what it likes there, and a model is told it beside the instructions. A call is held against the schema as
 * it was: a function whose own words were changed can only harm itself.
 */
export function defusedSchema(schema: object): object {
	return defusedValue(schema) as object;
}

function defusedValue(value: unknown): unknown {
	if (typeof value === 'string') return defused(value);
	if (typeof value !== 'object' || value === null) return value;
	if (Array.isArray(value)) return value.map(defusedValue);
	return Object.fromEntries(Object.entries(value).map(([name, member]) => [defused(name), defusedValue(member)]));
}
