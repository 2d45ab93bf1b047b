import type { ApiDescription, DescribedOperation, JsonSchema } from '../support/openapi.ts';

/** The arguments of a call: every parameter of the operation, and one body. */
interface Call {
	path: Record<string, unknown>;
	query: Record<string, unknown>;
	headers: Record<string, unknown>;
	/** TypeScript source; undefined for an operation without a body. */
	body: string | undefined;
}

/** A TypeScript program that calls every operation through openapi-fetch, and assigns every example of a response to its type. */
export function programOfOpenApiFetch(api: ApiDescription): string {
	const calls = api.operations.flatMap(({ id, method, path, responses, ...operation }) => [
		...callsOf(api, operation).map((call) => {
			const params = source(present({ path: call.path, query: call.query, header: call.headers }));
			const body = call.body === undefined ? '' : `, body: ${call.body}`;
			return `\t(await client.${method}('${path}', { params: ${params}${body} })).data;`;
		}),
		...answersOf(api, responses).map(
			([status, type, value]) =>
				`\tanswer<operations['${id}']['responses'][${status}]['content']['${type}']>(${value});`,
		),
	]);
	return `import createClient from 'openapi-fetch';
import type { operations, paths } from './paths.d.ts';

const client = createClient<paths>({ baseUrl: 'http://127.0.0.1' });
const answer = <T>(_value: T): void => {};

export async function callAll(): Promise<void> {
${calls.join('\n')}
}
`;
}

/**
 * The same with the functions that @hey-api/openapi-ts generates. They send and receive only the first content type of a body,
 * and have a file as a Blob, of which no example can be written.
 */
export function programOfHeyApi(api: ApiDescription): string {
	const calls = api.operations.flatMap(({ id, responses, parameters, body: bodies }) => [
		...callsOf(api, { parameters, body: Object.fromEntries(Object.entries(bodies).slice(0, 1)) }).map((call) => {
			const options = source(present({ path: call.path, query: call.query, headers: call.headers }));
			const body = call.body === undefined ? '' : `, body: ${call.body}`;
			return `\t(await sdk.${id}({ ...${options}${body} })).data;`;
		}),
		...answersOf(api, withFirstTypeOnly(responses)).map(
			([status, , value]) => `\tanswer<types.${capital(id)}Responses[${status}]>(${value});`,
		),
	]);
	return `import * as sdk from './sdk';
import type * as types from './sdk/types.gen';

const answer = <T>(_value: T): void => {};

export async function callAll(): Promise<void> {
${calls.join('\n')}
}
`;
}

function withFirstTypeOnly(responses: DescribedOperation['responses']): DescribedOperation['responses'] {
	const firsts = [...responses].map(([status, response]) => {
		const first = Object.entries(response.content).slice(0, 1);
		const content = Object.fromEntries(
			first.filter(([type]) => type !== 'application/octet-stream' && type !== 'application/jsonl'),
		);
		return [status, { ...response, content }] as const;
	});
	return new Map(firsts);
}

/** One call for each example of a body. */
function callsOf(api: ApiDescription, { parameters, body }: Pick<DescribedOperation, 'parameters' | 'body'>): Call[] {
	const ofPlace = (place: string) =>
		Object.fromEntries(
			parameters.filter((each) => each.in === place).map(({ name, schema }) => [name, sample(schema)]),
		);
	const given = { path: ofPlace('path'), query: ofPlace('query'), headers: ofPlace('header') };
	const bodies = Object.values(body).flatMap((media) => api.examples(media).map(([, value]) => source(value)));
	return (bodies.length === 0 ? [undefined] : bodies).map((text) => ({ ...given, body: text }));
}

/** The examples of successful responses, as TypeScript source. */
function answersOf(
	api: ApiDescription,
	responses: DescribedOperation['responses'],
): Array<[status: number, type: string, value: string]> {
	return [...responses].flatMap(([status, { content }]) =>
		status >= 400
			? []
			: Object.entries(content).flatMap(([type, media]) =>
					api.examples(media).map(([, value]) => [status, type, source(value)] as [number, string, string]),
				),
	);
}

/** A valid value of a parameter. */
function sample({
	examples,
	enum: values,
	default: preset,
	type,
	format,
	minimum,
}: JsonSchema & SampleKeywords): unknown {
	if (examples) return examples[0];
	if (values) return values[0];
	if (preset !== undefined) return preset;
	if (format === 'date-time') return '2026-11-20T12:00:00.000Z';
	const first = [type].flat()[0];
	if (first === 'integer' || first === 'number') return minimum ?? 1;
	return first === 'boolean' ? true : 'text';
}

interface SampleKeywords {
	default?: unknown;
	type?: string | string[];
	format?: string;
	minimum?: number;
}

function present(groups: Record<string, object>): Record<string, object> {
	return Object.fromEntries(Object.entries(groups).filter(([, members]) => Object.keys(members).length > 0));
}

function source(value: unknown): string {
	return JSON.stringify(value);
}

function capital(id: string): string {
	return id[0]?.toUpperCase() + id.slice(1);
}
