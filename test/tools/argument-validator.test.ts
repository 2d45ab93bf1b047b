import assert from 'node:assert/strict';
import test from 'node:test';
import { AppError } from '../../src/base/index.ts';
import { createNetwork } from '../../src/net/index.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { apiPeer } from './api-peer.ts';
import { neverAborts, type ToolsHarness, toolsHarness } from './tools-harness.ts';

const DAY_MS = 24 * 3_600_000;

/** Calls a tool with these parameters and gives its outcome. */
async function called(room: ToolsHarness, parameters: object, args: unknown) {
	await using peer = await apiPeer();
	const { call } = await room.only(room.api({ method: 'GET', url: `${peer.origin}/`, parameters }));
	const { error, is_error } = await call(args, neverAborts);
	return { error, is_error, requests: peer.requests.length };
}

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

test('rejects invalid arguments with the problem, and sends nothing', async () => {
	await using room = toolsHarness();
	const parameters = object(
		{ city: { type: 'string', pattern: '^[A-Z]' }, unit: { enum: ['C', 'F'] }, days: { type: 'integer', maximum: 7 } },
		{ required: ['city'], additionalProperties: false },
	);
	const wrong: Array<[args: unknown, why: string]> = [
		[{}, "they must have required property 'city'"],
		[{ city: 7 }, '/city must be string'],
		[{ city: 'ulm' }, '/city must match pattern "^[A-Z]"'],
		[{ city: 'Ulm', unit: 'K' }, '/unit must be equal to one of the allowed values (["C","F"])'],
		[{ city: 'Ulm', days: 8 }, '/days must be <= 7'],
		[{ city: 'Ulm', town: 'Ulm' }, 'they must NOT have additional properties (town)'],
		['{"city": "Ulm', 'they must be a JSON object'],
		[['Ulm'], 'they must be a JSON object'],
		[null, 'they must be a JSON object'],
		[undefined, 'they must be a JSON object'],
		[{ city: `U${'l'.repeat(131_072)}` }, 'they are longer than 131072 characters'],
	];
	for (const [args, why] of wrong) {
		const { error, requests } = await called(room, parameters, args);
		assert.deepEqual(error, { code: 'invalid_arguments', message: `The arguments do not fit: ${why}.` });
		assert.equal(requests, 0);
	}
	let bottomless: unknown = 1;
	for (let level = 0; level < 200_000; level++) bottomless = [bottomless];
	const { error } = await called(room, object({ x: {} }), { x: bottomless });
	assert.equal(error?.message, 'The arguments do not fit: they are nested deeper than 64 levels.');
	assert.equal((await called(room, parameters, { city: 'Ulm', unit: 'C' })).is_error, false);
});

test('ends a validation that would take years, and serves other requests meanwhile', async () => {
	await using room = toolsHarness();
	await using peer = await apiPeer();
	const costly: Array<[schema: object, value: unknown]> = [
		[{ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(60)}!`],
		[{ type: 'object', patternProperties: { '^(\\w+\\s?)*$': {} } }, { [`${'word '.repeat(30)}!`]: 1 }],
	];
	const tooLong = "The arguments could not be checked: a pattern in the tool's schema takes too long.";
	for (const [schema, value] of costly) {
		const parameters = object({ value: schema });
		const { call } = await room.only(room.api({ method: 'GET', url: `${peer.origin}/`, parameters }));
		let turns = 0;
		const other = setInterval(() => turns++, 10);
		const { error } = await call({ value }, neverAborts);
		clearInterval(other);
		assert.deepEqual(error, { code: 'invalid_arguments', message: tooLong }, JSON.stringify(schema));
		assert.ok(turns >= 5, `only ${turns} turns of the event loop`);

		// For a minute the check is not repeated: calls cost nothing and delay no other calls.
		const outcomes = await Promise.all(Array.from({ length: 200 }, () => call({ value }, neverAborts)));
		assert.ok(outcomes.every(({ error }) => error?.message === tooLong));
		room.clock.advance(60_001);
		assert.equal((await call({}, neverAborts)).is_error, false, 'and then what is sound is taken');
	}
	assert.equal(peer.requests.length, costly.length);
});

test('a clock that was far ahead for a moment does not rest a schema for longer', async () => {
	const clock = new ManualClock();
	const checker = { check: async () => ({ verdict: 'too_slow' }) as const };
	await using peer = await apiPeer();
	await using room = toolsHarness({ clock, checker });
	const { call } = await room.only(room.api({ method: 'GET', url: `${peer.origin}/` }));
	clock.adjust(45 * DAY_MS);
	assert.match((await call({}, neverAborts)).error?.message ?? '', /takes too long/);
	clock.adjust(-45 * DAY_MS);
	clock.advance(60_001);
	checker.check = async () => ({ verdict: 'fits' }) as never;
	assert.equal((await call({}, neverAborts)).is_error, false);
});

test('a call that waits for its validation keeps its time limit', async () => {
	const network = createNetwork({ allowPrivateNetwork: true });
	const checker = { check: () => new Promise<never>(() => {}) };
	await using room = toolsHarness({ network, checker });
	const { call } = await room.only(room.api({ method: 'GET', url: 'https://api.example/', timeout_ms: 50 }));
	assert.equal((await call({}, neverAborts)).error?.code, 'timed_out');
});

test('makes no call while arguments cannot be validated', async () => {
	await using peer = await apiPeer();
	const refusals = [new AppError('unavailable', 'Too much work waits already. Try again.'), new Error('defect 17')];
	for (const refusal of refusals) {
		const checker = { check: () => Promise.reject(refusal) };
		await using room = toolsHarness({ checker });
		const { call } = await room.only(room.api({ method: 'GET', url: `${peer.origin}/` }));
		const { result, error } = await call({}, neverAborts);
		assert.equal(error?.code, 'internal_error');
		assert.doesNotMatch(result, /defect/);
	}
	assert.equal(peer.requests.length, 0);
});
