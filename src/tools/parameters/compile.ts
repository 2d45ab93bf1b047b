import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { messageOf } from '../../base/index.ts';
import { invalidRequestAt } from '../invalid-request.ts';
import { requireFiniteSchema } from './schema-references.ts';

const MAX_PROBLEM_CHARACTERS = 300;

/** People's schemas have keywords and formats of their own, which are no mistake; what is wrong is answered, not printed. */
const LENIENT = { strict: false, logger: false } as const;

/**
 * The dialects that are understood, by their `$schema`; each judges schemas by its own meta-schema. That of draft-07 wants
 * no value of an enum twice, which takes the square of their number to tell, and which it means as an advice only.
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

/** Lists longer than this are gone through, where code would else be made for each of their values. */
const LOOP_THRESHOLD = 8;

/**
 * Compiles the JSON Schema of a tool's parameters.
 * @param schema within the bounds of a configuration's member
 * @throws AppError `invalid_request` where it is none of an object, or one whose check could take for ever
 */
export function compileParameters(schema: Record<string, unknown>): ValidateFunction<Record<string, unknown>> {
	// An id of the whole is a name, which nothing here asks for.
	const { $schema, $id: _id, ...rest } = schema;
	const dialect =
		$schema === undefined ? DIALECTS[0] : DIALECTS.find(({ schemaUri }) => schemaUri.test(String($schema)));
	if (!dialect) throw invalidSchema('must be in the dialect 2020-12 or draft-07 of JSON Schema');
	if (rest.type !== 'object') throw invalidSchema('must describe an object: "type": "object"');
	if (!dialect.metaSchemaValidator.validateSchema(rest))
		throw invalidSchema(`is not a valid JSON Schema: ${firstError(dialect.metaSchemaValidator.errors)}`);
	requireFiniteSchema(rest);
	// One for each schema, because it remembers what it has compiled, by ids that are not ours. Without a meta-schema of its
	// own it is made in no time; unoptimised code takes a fraction of the time to make.
	const ajv = new dialect.Dialect({
		...LENIENT,
		meta: false,
		validateSchema: false,
		addUsedSchema: false,
		// A parameter may be called `constructor`.
		ownProperties: true,
		// What is referred to is compiled once, instead of wherever it is referred to.
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
