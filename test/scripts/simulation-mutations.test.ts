import assert from 'node:assert/strict';
import { test } from 'node:test';

const { mutationsNamed }: { mutationsNamed(words: string[], all: { name: string }[]): { name: string }[] } =
	await import(new URL('../../scripts/simulation-mutations.mjs', import.meta.url).href);

test('a word selects the planted faults with it in their names, and a whole name only its own fault', () => {
	const all = ['a reply is lost', 'a reply is lost twice', 'a stream ends'].map((name) => ({ name }));
	const named = (...words: string[]) => mutationsNamed(words, all).map(({ name }) => name);
	assert.deepEqual(named(), ['a reply is lost', 'a reply is lost twice', 'a stream ends']);
	assert.deepEqual(named('is lost'), ['a reply is lost', 'a reply is lost twice']);
	assert.deepEqual(named('a reply is lost'), ['a reply is lost']);
	assert.deepEqual(named('a reply is lost', 'stream'), ['a reply is lost', 'a stream ends']);
	assert.throws(() => named('inbox'), /No fault has a name with inbox\./);
});
