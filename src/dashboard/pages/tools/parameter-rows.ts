import { jsonText } from '../../components/code-block.tsx';

export const PARAMETER_TYPES = ['string', 'number', 'integer', 'boolean'] as const;
export type ParameterType = (typeof PARAMETER_TYPES)[number];

/** One parameter of a simple schema. */
export interface ParameterRow {
	name: string;
	type: ParameterType;
	isRequired: boolean;
	description: string;
}

export const EMPTY_PARAMETER: ParameterRow = { name: '', type: 'string', isRequired: true, description: '' };

/** The parameters of a JSON Schema, where each has only a type and a description; null: a table cannot show it whole. */
export function parseRows(text: string): ParameterRow[] | null {
	const schema = parseObject(text);
	if (schema === null) return null;
	const { type, properties = {}, required = [], ...others } = schema;
	if (type !== 'object' || Object.keys(others).length > 0 || !isRecord(properties) || !Array.isArray(required))
		return null;
	const rows = Object.entries(properties).map(([name, property]) => rowOf(name, property, required.includes(name)));
	const hasAll = rows.every((row) => row !== null) && required.every((name) => Object.hasOwn(properties, name));
	return hasAll ? (rows as ParameterRow[]) : null;
}

function rowOf(name: string, property: unknown, isRequired: boolean): ParameterRow | null {
	if (!isRecord(property)) return null;
	const { type, description = '', ...others } = property;
	const isSimple = PARAMETER_TYPES.includes(type as ParameterType) && typeof description === 'string';
	if (!isSimple || Object.keys(others).length > 0) return null;
	return { name, type: type as ParameterType, isRequired, description };
}

/** The JSON Schema of some parameters. Rows without a name are left out. */
export function schemaText(rows: readonly ParameterRow[]): string {
	const named = rows.map((row) => ({ ...row, name: row.name.trim() })).filter(({ name }) => name !== '');
	const properties = named.map(({ name, type, description }) => [
		name,
		description === '' ? { type } : { type, description },
	]);
	const required = named.filter(({ isRequired }) => isRequired).map(({ name }) => name);
	return jsonText({
		type: 'object',
		properties: Object.fromEntries(properties),
		...(required.length > 0 && { required: [...new Set(required)] }),
	});
}

/** The placeholders of a URL that are no parameters. */
export function missingParameters(url: string, parameters: string): string[] {
	const { properties } = parseObject(parameters) ?? {};
	const names = [...url.matchAll(/\{([^{}/?#&]+)\}/g)].map(([, name = '']) => name);
	return [...new Set(names)].filter((name) => !isRecord(properties) || !Object.hasOwn(properties, name));
}

/** Why a text is no JSON object; null where it is one. */
export function jsonProblem(text: string): 'not-an-object' | SyntaxError | null {
	try {
		return isRecord(JSON.parse(text)) ? null : 'not-an-object';
	} catch (error) {
		return error as SyntaxError;
	}
}

function parseObject(text: string): Record<string, unknown> | null {
	return jsonProblem(text) === null ? JSON.parse(text) : null;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
