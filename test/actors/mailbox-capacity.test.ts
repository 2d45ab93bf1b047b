import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ActorSystem, MailboxFullError, type SelfRef } from '../../src/actors/index.ts';
import { deferred } from '../../src/base/index.ts';

/** An actor that handles one message each time it is let. */
function slowActor(limit: number) {
	let gate = deferred<void>();
	let self: SelfRef<string, string> | undefined;
	const handled: string[] = [];
	const system = new ActorSystem<string, string>({
		load: (_id, ref) => {
			self = ref;
			return {
				handle: async (message) => {
					await gate.promise;
					handled.push(message);
					return message;
				},
			};
		},
		reportFailure: () => {},
		controlLimit: limit,
	});
	return {
		system,
		handled,
		self: () => self as SelfRef<string, string>,
		letOne: () => {
			const opened = gate;
			gate = deferred();
			opened.resolve();
		},
	};
}

test('waits for capacity in a full mailbox until there is some', async () => {
	const { system, handled, self, letOne } = slowActor(2);
	await using _ = system;
	system.tell('one', 'first', { lane: 'control' });
	await nextTurn();
	await self().waitForCapacity();
	self().tell('second');
	self().tell('third');
	assert.throws(() => self().tell('fourth'), MailboxFullError);
	let told = false;
	const room = self()
		.waitForCapacity()
		.then(() => {
			told = true;
		});
	for (let turn = 0; turn < 10; turn++) await nextTurn();
	assert.equal(told, false);
	letOne();
	await room;
	self().tell('fourth');
	for (const _ of [1, 2, 3]) {
		await nextTurn();
		letOne();
	}
	await nextTurn();
	assert.deepEqual(handled, ['first', 'second', 'third', 'fourth']);
});

test('removing a waiting message frees capacity', async () => {
	const { system, self, letOne } = slowActor(1);
	await using _ = system;
	system.tell('one', 'first', { lane: 'control' });
	await nextTurn();
	const late = system.ask('one', 'second', { lane: 'control', deadlineMs: 1 });
	const room = self().waitForCapacity();
	await assert.rejects(late, { code: 'unavailable' });
	await room;
	self().tell('third');
	letOne();
	await nextTurn();
	letOne();
});

test('stops waiting for capacity when the actor is gone', async () => {
	const { system, self } = slowActor(1);
	system.tell('one', 'first', { lane: 'control' });
	await nextTurn();
	self().tell('second');
	const room = self().waitForCapacity();
	await system.drain(0);
	await room;
	assert.equal(self().alive, false);
});
