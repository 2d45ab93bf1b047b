import assert from 'node:assert/strict';
import { test } from 'node:test';

interface Program {
	mutationsNamed(words: string[], all?: { name: string }[]): { name: string }[];
	brokenRule(played: { code: number; output: string }): { seed: number; rule: string } | null;
}

const scripts = new URL('../../scripts/', import.meta.url);
const { mutationsNamed, brokenRule }: Program = await import(new URL('simulation-mutations.mjs', scripts).href);
const { mutated }: { mutated(mutation: { name: string }): string } = await import(
	new URL('simulation.mjs', scripts).href
);

test('a word selects the planted faults with it in their names, and a whole name only its own fault', () => {
	const all = ['a reply is lost', 'a reply is lost twice', 'a stream ends'].map((name) => ({ name }));
	const named = (...words: string[]) => mutationsNamed(words, all).map(({ name }) => name);
	assert.deepEqual(named(), ['a reply is lost', 'a reply is lost twice', 'a stream ends']);
	assert.deepEqual(named('is lost'), ['a reply is lost', 'a reply is lost twice']);
	assert.deepEqual(named('a reply is lost'), ['a reply is lost']);
	assert.deepEqual(named('a reply is lost', 'stream'), ['a reply is lost', 'a stream ends']);
	assert.throws(() => named('inbox'), /No fault has a name with inbox\./);
});

test('a planted fault is found by a broken rule, and not by a crash of the program', () => {
	const output = '{"seeds":6}\nSeed 7 broke a rule: Violation: a reply is lost\n    at somewhere\n';
	assert.deepEqual(brokenRule({ code: 1, output }), { seed: 7, rule: 'Violation: a reply is lost' });
	for (const played of [
		{ code: 0, output: '{"seeds":500}\n' },
		{ code: 1, output: '' },
		{ code: 134, output: '{"seeds":3}\n' },
		{ code: 1, output: 'SyntaxError: a text that says that a seed broke a rule: no\n' },
	])
		assert.equal(brokenRule(played), null, JSON.stringify(played));
});

test('each planted fault changes the server: its text is once in its file', () => {
	const all = mutationsNamed([]);
	assert.ok(all.length >= 30, 'the simulation is known to find at least thirty faults');
	for (const fault of all) assert.ok(mutated(fault).length > 0, fault.name);
});
