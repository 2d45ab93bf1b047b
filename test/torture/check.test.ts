import assert from 'node:assert/strict';
import test from 'node:test';
import { until } from '../support/until.ts';
import { Item } from './ledger.ts';
import { noFigures, World } from './world.ts';

test('a value has the times between its request and the acknowledgement of the next', () => {
	const item = new Item('Lamp');
	item.changes.push({ value: 'on', begunAt: 1, endedAt: 2, outcome: 'acknowledged' });
	item.changes.push({ value: 'off', begunAt: 3, outcome: 'unknown' });
	item.changes.push({ value: 'dim', begunAt: 5, endedAt: 6, outcome: 'acknowledged' });
	assert.deepEqual(item.timesOf(null), { from: Number.NEGATIVE_INFINITY, to: 2 });
	assert.deepEqual(item.timesOf('on'), { from: 1, to: 6 });
	assert.deepEqual(item.timesOf('off'), { from: 3, to: 6 });
	assert.deepEqual(item.timesOf('dim'), { from: 5, to: Number.POSITIVE_INFINITY });
	assert.equal(item.timesOf('blue'), null);
});

// biome-ignore lint/suspicious/noExplicitAny: items of several resources
type Tamper = (data: any[]) => any[];

const isScene = ({ name }: { name: string }) => name === 'Scene';

/** What no server may show: a list as it is changed, and what the checker says about it. */
const PLANTED: ReadonlyArray<[what: string, path: RegExp, tamper: Tamper, fault: RegExp]> = [
	['a lost assistant', /assistants/, (data) => data.filter(isScene), /Assistant \d+ is null, but its changes are/],
	['a doubled assistant', /assistants/, (data) => [...data, data.find((one) => !isScene(one))], /is there twice/],
	[
		'a value that was not asked for',
		/assistants/,
		(data) => data.map((one) => ({ ...one, master_prompt: 'Be rude.' })),
		/which was not asked for/,
	],
	['a lost document', /documents/, (data) => data.slice(1), /documents are listed, and/],
	[
		'a document that was not asked for',
		/documents/,
		([first, ...others]) => [{ ...first, title: 'Foreign' }, ...others],
		/that was not asked for/,
	],
	['a lost conversation', /conversations\?/, (data) => data.slice(1), /conversation \d+ is null/],
	['questions out of order', /messages/, (data) => [...data.slice(2), ...data.slice(0, 2)], /out of order/],
	['a doubled question', /messages/, (data) => [...data, ...data], /out of order/],
	['a lost reply', /messages/, (data) => data.filter(({ role }) => role === 'user'), /out of order/],
	[
		'a changed reply',
		/messages/,
		(data) => data.map((one) => (one.role === 'assistant' ? { ...one, content: 'Yes.' } : one)),
		/The stored reply to question/,
	],
	['a lost event', /events/, (data) => data.slice(1), /and the events/],
	['a doubled event', /events/, (data) => [...data, ...data.slice(-1)], /is in the log twice/],
];

test('the checker finds what is lost, doubled, changed or out of order', async (t) => {
	await using world = await World.create(1, noFigures());
	await using server = await world.start();
	const load = world.load(server);
	const { ledger } = world;
	await until('there is something of each kind', () => {
		const talked = ledger.conversations.some(({ existence, turns }) => existence.value !== null && turns.length > 2);
		return talked && ledger.documents.some(({ value }) => value !== null) && ledger.assistants.length > 2;
	});
	await load.stop();
	t.diagnostic(`${ledger.acknowledged} changes acknowledged`);
	await world.check(server, Number.MAX_VALUE);
	for (const [what, pattern, tamper, fault] of PLANTED) {
		const tampered = Object.create(server, {
			call: {
				value: async (...args: Parameters<typeof server.call>) => {
					const answer = await server.call(...args);
					if (pattern.test(args[1]) && Array.isArray(answer.body.data)) answer.body.data = tamper(answer.body.data);
					return answer;
				},
			},
		});
		await assert.rejects(world.check(tampered, Number.MAX_VALUE), fault, what);
	}
});
