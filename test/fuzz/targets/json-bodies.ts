import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createLog } from '../../../src/base/index.ts';
import { createHttpServer } from '../../../src/http/index.ts';
import { postPackets, sendPackets } from '../http/packet-client.ts';
import { type ByteEdit, byteEdit, editBytes } from '../mutations/bytes.ts';
import type { FuzzTarget } from '../target.ts';

interface JsonBody {
	text: string;
	changes: ByteEdit[];
	cuts: number[];
}

const NUMBERS = [
	'0',
	'-0',
	'1e309',
	'-1e999',
	'1E-400',
	'9007199254740993',
	'0.1e+2',
	'01',
	'+1',
	'.5',
	'1.',
	'NaN',
	'Infinity',
	'0x10',
	'1'.repeat(400),
];
const STRINGS = [
	'""',
	'"a"',
	'"\\ud800"',
	'"\\udc00\\ud800"',
	'"\\ud83d\\ude00"',
	'"\\u0000"',
	'"\\x"',
	'"\\',
	'"\\\\ud800"',
	'"\n"',
	'"\u2028"',
	'"Größe"',
	"'a'",
	'"__proto__"',
	'"\\u005f_proto__"',
];
const OTHERS = [
	'true',
	'false',
	'null',
	'undefined',
	'',
	' ',
	'\ufeff',
	'/**/',
	',',
	':',
	'[',
	'{',
	']',
	'}',
	'[1,]',
	'{"a":1,}',
	'{a:1}',
];

const { value } = fc.letrec((tie) => ({
	value: fc.oneof(
		{ maxDepth: 5 },
		fc.constantFrom(...NUMBERS),
		fc.constantFrom(...STRINGS),
		fc.constantFrom(...OTHERS),
		fc.json(),
		fc.array(tie('value') as fc.Arbitrary<string>, { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
		// The same names occur twice in many of these objects.
		fc
			.array(
				fc.tuple(
					fc.constantFrom('"a"', '"b"', '"__proto__"', '"constructor"', ...STRINGS),
					tie('value') as fc.Arbitrary<string>,
				),
				{ maxLength: 4 },
			)
			.map((members) => `{${members.map((member) => member.join(':')).join(',')}}`),
	) as fc.Arbitrary<string>,
}));
const deep = fc
	.tuple(
		fc.constantFrom('[', '{"a":', '[[],', '["[",'),
		fc.constantFrom(10, 199, 200, 201, 5_000, 100_000),
		fc.constantFrom('', '1', '"]"'),
	)
	.map(([open, depth, inner]) => open.repeat(depth) + inner + (open.startsWith('{') ? '}' : ']').repeat(depth));

const MAX_DEPTH = 200;

/** Bodies of JSON: deep, with numbers out of range, repeated names and halves of surrogate pairs. The answer is a 400 or the value. */
export const jsonBodies: FuzzTarget<JsonBody> = {
	name: 'json-bodies',
	skip: false,
	shortRuns: 300,
	deadlineMs: 60_000,
	inputs: fc.record({
		text: fc.oneof({ weight: 6, arbitrary: value }, { weight: 1, arbitrary: deep }),
		changes: fc.oneof(
			{ weight: 2, arbitrary: fc.constant<ByteEdit[]>([]) },
			{ weight: 1, arbitrary: fc.array(byteEdit, { maxLength: 3 }) },
		),
		cuts: fc.array(fc.nat(999), { maxLength: 4 }),
	}),
	fileOf: (input) => ({ bytes: bodyOf(input), extension: 'txt' }),
	async open() {
		const server = createHttpServer({
			host: '127.0.0.1',
			port: 0,
			log: createLog('silent'),
			environment: process.env,
			routes: [
				{
					method: 'POST',
					path: '/json',
					handle: async (request) => ({ status: 200, body: JSON.stringify({ value: await request.json() }) }),
				},
			],
		});
		const { port } = await server.listen();
		return {
			async run(input) {
				const body = bodyOf(input);
				const { status, text } = await sendPackets(port, postPackets('/json', 'application/json', body, input.cuts));
				const expected = referenceValue(body);
				if (expected === null) assert.deepEqual([status, JSON.parse(text).error.code], [400, 'invalid_json']);
				else assert.deepEqual([status, text], [200, JSON.stringify({ value: expected.value })]);
				assert.equal(Object.hasOwn(Object.prototype, 'a'), false, 'no prototype changes');
			},
			[Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
		};
	},
};

const bodyOf = ({ text, changes }: JsonBody) => changes.reduce<Buffer>(editBytes, Buffer.from(text));

/** What a body means; null if it is not acceptable: not UTF-8, not JSON, deeper than 200 levels, or with half of a surrogate pair. */
function referenceValue(body: Buffer): { value: unknown } | null {
	if (body.length === 0) return { value: undefined };
	try {
		const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
		const value: unknown = JSON.parse(text);
		return depthOf(text) > MAX_DEPTH || /\p{Surrogate}/u.test(unescaped(text)) ? null : { value };
	} catch {
		return null;
	}
}

/** The levels of a valid JSON text. Of repeated names only the last value is in the parsed value, so the text is read. */
function depthOf(text: string): number {
	let depth = 0;
	let deepest = 0;
	for (const bracket of text.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/[[\]{}]/g) ?? []) {
		depth += '[{'.includes(bracket) ? 1 : -1;
		deepest = Math.max(deepest, depth);
	}
	return deepest;
}

/** A valid JSON text with its escaped UTF-16 code units in their places. */
function unescaped(text: string): string {
	return text.replace(/\\(?:u([0-9a-fA-F]{4})|[^u])/g, (_, unit?: string) =>
		unit === undefined ? '?' : String.fromCharCode(Number.parseInt(unit, 16)),
	);
}
