import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { messageOf } from '../../base/index.ts';
import { invalidRequestAt } from '../invalid-request.ts';
import { requireFiniteSchema } from './schema-references.ts';

const MAX_PROBLEM_CHARACTERS = 300;

/** Unknown keywords and formats are no error. Errors are returned, not logged. */
const LENIENT = { strict: false, logger: false } as const;

/**
 * The supported dialects, by their `$schema`; each validates schemas by its own meta-schema. That of draft-07 requires unique
 * values of an enum, which takes quadratic time to check, and which is only a recommendation.
 */
const DIALECTS = [
	{
		schemaUri: /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/,
		Dialect: Ajv2020,
		metaSchemaValidator: new Ajv2020(LENIENT),
	},
	{
		schemaUri: /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/,
		Dialect: Ajv,
		metaSchemaValidator: new Ajv(LENIENT).removeKeyword('uniqueItems'),
	},
] as const;

/** Longer enums are searched in a loop; for shorter ones ajv generates code for each value. */
const LOOP_THRESHOLD = 8;

/**
 * Compiles the JSON Schema of a tool's parameters.
 * @param schema within the size limits of a configuration's member
 * @throws AppError `invalid_request` where it is not the schema of an object, or its validation could take forever
 */
export function compileParameters(schema: Record<string, unknown>): ValidateFunction<Record<string, unknown>> {
	// The schema's own `$id` is not used here.
	const { $schema, $id: _id, ...rest } = schema;
	const dialect =
		$schema === undefined ? DIALECTS[0] : DIALECTS.find(({ schemaUri }) => schemaUri.test(String($schema)));
	if (!dialect) throw invalidSchema('must be in the dialect 2020-12 or draft-07 of JSON Schema');
	if (rest.type !== 'object') throw invalidSchema('must describe an object: "type": "object"');
	if (!dialect.metaSchemaValidator.validateSchema(rest))
		throw invalidSchema(`is not a valid JSON Schema: ${firstError(dialect.metaSchemaValidator.errors)}`);
	requireFiniteSchema(rest);
	// One instance per schema, because ajv caches compiled schemas by ids that users choose. Without a meta-schema it is created
	// quickly; unoptimised code takes a fraction of the time to generate.
	const ajv = new dialect.Dialect({
		...LENIENT,
		meta: false,
		validateSchema: false,
		addUsedSchema: false,
		// A parameter may be called `constructor`.
		ownProperties: true,
		// A referenced schema is compiled once, instead of at each reference.
		inlineRefs: false,
		loopEnum: LOOP_THRESHOLD,
		loopRequired: LOOP_THRESHOLD,
		code: { optimize: false },
	});
	addFormats.default(ajv);
	try {
		return ajv.compile<Record<string, unknown>>(rest);
	} catch (thrown) {
		throw invalidSchema(`cannot be used: ${messageOf(thrown).slice(0, MAX_PROBLEM_CHARACTERS)}`);
	}
}

function invalidSchema(message: string) {
	return invalidRequestAt(['config', 'parameters'], message);
}

function firstError(errors: ErrorObject[] | null | undefined): string {
	const [first] = errors ?? [];
	return `${first?.instancePath || 'it'} ${first?.message}`.slice(0, MAX_PROBLEM_CHARACTERS);
}
