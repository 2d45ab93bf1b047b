import assert from 'node:assert/strict';
import { test } from 'node:test';
import { People } from '../../src/conversations/people.ts';

test('a follower by the API sees the people in a conversation; without any, nothing is read', async () => {
	let reads = 0;
	const store = {
		/** Every conversation was erased. */
		async get() {
			reads++;
			return undefined;
		},
		hints: undefined,
	};
	using people = new People(store);
	assert.deepEqual(await people.describe('conv_1', 'api'), { people: [] });
	assert.equal(reads, 0);
	people.presence.set('conv_1', { id: 'user_1', name: 'Anna' }, 'looking');
	assert.equal(await people.describe('conv_1', 'api'), null);
	assert.equal(await people.describe('conv_2', 'visitor'), null);
	assert.equal(reads, 2);
});
