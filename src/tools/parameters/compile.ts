import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { messageOf } from '../../base/index.ts';
import { refusedAt } from '../refusal.ts';
import { requireFiniteSchema } from './schema-references.ts';

const MAX_COMPLAINT = 300;

/** People's schemas have keywords and formats of their own, which are no mistake; what is wrong is answered, not printed. */
const LENIENT = { strict: false, logger: false } as const;

/**
 * The dialects that are understood, by their `$schema`; each judges schemas by its own meta-schema. That of draft-07 wants
 * no value of an enum twice, which takes the square of their number to tell, and which it means as an advice only.
 */
const DIALECTS = [
	{ names: /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, Dialect: Ajv2020, judge: new Ajv2020(LENIENT) },
	{
		names: /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/,
		Dialect: Ajv,
		judge: new Ajv(LENIENT).removeKeyword('uniqueItems'),
	},
] as const;

/** Lists longer than this are gone through, where code would else be made for each of their values. */
const LISTED = 8;

/**
 * Compiles the JSON Schema of a tool's parameters.
 * @param schema within the bounds of a configuration's member
 * @throws AppError `invalid_request` where it is none of an object, or one whose check could take for ever
 */
export function compileParameters(schema: Record<string, unknown>): ValidateFunction<Record<string, unknown>> {
	// An id of the whole is a name, which nothing here asks for.
	const { $schema, $id: _id, ...rest } = schema;
	const dialect = $schema === undefined ? DIALECTS[0] : DIALECTS.find(({ names }) => names.test(String($schema)));
	if (!dialect) throw refused('must be in the dialect 2020-12 or draft-07 of JSON Schema');
	if (rest.type !== 'object') throw refused('must describe an object: "type": "object"');
	if (!dialect.judge.validateSchema(rest))
		throw refused(`is not a valid JSON Schema: ${sentence(dialect.judge.errors)}`);
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
		loopEnum: LISTED,
		loopRequired: LISTED,
		code: { optimize: false },
	});
	addFormats.default(ajv);
	try {
		return ajv.compile<Record<string, unknown>>(rest);
	} catch (thrown) {
		throw refused(`cannot be used: ${messageOf(thrown).slice(0, MAX_COMPLAINT)}`);
	}
}

function refused(message: string) {
	return refusedAt(['config', 'parameters'], message);
}

function sentence(errors: ErrorObject[] | null | undefined): string {
	const [first] = errors ?? [];
	return `${first?.instancePath || 'it'} ${first?.message}`.slice(0, MAX_COMPLAINT);
}
