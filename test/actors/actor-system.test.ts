import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
	type Actor,
	ActorGoneError,
	ActorSystem,
	type ActorSystemOptions,
	MailboxFullError,
} from '../../src/actors/index.ts';
import { AppError, deferred, OtherNodeError } from '../../src/base/index.ts';
import { until } from './until.ts';

type Message = { say: string };

const unexpected = (_id: string, thrown: unknown) => assert.ifError(thrown);

/** A system whose actors note what they were told; the store is the array of their id. */
function notebooks(
	options: Partial<ActorSystemOptions<Message, string[]>> & { handle?: (id: string, say: string) => unknown } = {},
) {
	const stored = new Map<string, string[]>();
	const reports: unknown[] = [];
	let loads = 0;
	const system = new ActorSystem<Message, string[]>({
		load: (id): Actor<Message, string[]> => {
			loads++;
			const memory = [...(stored.get(id) ?? [])];
			return {
				async handle({ say }) {
					memory.push(say);
					await options.handle?.(id, say);
					stored.set(id, [...memory]);
					return [...memory];
				},
			};
		},
		reportFailure: (_id, thrown) => reports.push(thrown),
		drainTimeoutMs: 1_000,
		...options,
	});
	return { system, stored, reports, loads: () => loads };
}

test('messages to one actor are handled one at a time and in order', async () => {
	let inside = 0;
	const { system } = notebooks({
		async handle() {
			assert.equal(++inside, 1);
			await new Promise((resolve) => setImmediate(resolve));
			inside--;
		},
	});
	await using _ = system;
	const answers = await Promise.all(['a', 'b', 'c', 'd'].map((say) => system.ask('x', { say })));
	assert.deepEqual(answers.at(-1), ['a', 'b', 'c', 'd']);
});

test('a finished actor is removed as soon as it may passivate, and is loaded again by the next message', async () => {
	let loads = 0;
	let busy = true;
	const { system } = notebooks({
		load: (): Actor<Message, string[]> => {
			loads++;
			let over = false;
			return {
				handle({ say }) {
					over = say === 'end';
					return [say];
				},
				isFinished: () => over,
				canPassivate: () => !busy,
			};
		},
	});
	await using _ = system;
	await Promise.all([system.ask('x', { say: 'a' }), system.ask('x', { say: 'end' }), system.ask('x', { say: 'b' })]);
	await system.ask('x', { say: 'end' });
	assert.deepEqual([system.residents, loads], [1, 1], 'something still runs beside it');
	busy = false;
	await system.ask('x', { say: 'end' });
	await until(() => system.residents === 0);
	assert.deepEqual(await system.ask('x', { say: 'c' }), ['c']);
	assert.deepEqual([system.residents, loads], [1, 2]);
});

test('actors do not wait for each other', async () => {
	const gate = deferred<void>();
	const { system } = notebooks({ handle: (id) => (id === 'slow' ? gate.promise : undefined) });
	await using _ = system;
	const slow = system.ask('slow', { say: 'a' });
	assert.deepEqual(await system.ask('quick', { say: 'b' }), ['b']);
	gate.resolve();
	assert.deepEqual(await slow, ['a']);
});

test('a control message overtakes user messages that wait, but not the one in hand', async () => {
	const gate = deferred<void>();
	const { system } = notebooks({ handle: (_id, say) => (say === 'first' ? gate.promise : undefined) });
	await using _ = system;
	const first = system.ask('x', { say: 'first' });
	await until(() => system.activeActor('x') !== undefined);
	const user = system.ask('x', { say: 'user' });
	const control = system.ask('x', { say: 'stop' }, { lane: 'control' });
	gate.resolve();
	assert.deepEqual(await first, ['first']);
	assert.deepEqual(await control, ['first', 'stop']);
	assert.deepEqual(await user, ['first', 'stop', 'user']);
});

test('user messages wait while an actor does not take them, and control messages go on', async () => {
	const handled: string[] = [];
	let busy = false;
	await using system = new ActorSystem<string, void>({
		load: () => ({
			handle(message) {
				handled.push(message);
				busy = message.startsWith('question');
			},
			acceptsUserMessages: () => !busy,
			canPassivate: () => !busy,
		}),
		reportFailure: unexpected,
		mailboxLimit: 2,
	});
	const asked = ['question 1', 'question 2', 'question 3'].map((message) => system.ask('x', message));
	await asked[0];
	await assert.rejects(system.ask('x', 'question 4'), MailboxFullError);
	await system.ask('x', 'delta', { lane: 'control' });
	await asked[1];
	assert.deepEqual(handled, ['question 1', 'delta', 'question 2']);
	await system.ask('x', 'done', { lane: 'control' });
	await asked[2];
	assert.deepEqual(handled, ['question 1', 'delta', 'question 2', 'done', 'question 3']);
	busy = false;
});

test('a full mailbox refuses the next user message at once, with the error that was chosen', async () => {
	const gate = deferred<void>();
	const { system } = notebooks({
		mailboxLimit: 3,
		mailboxFullError: () => new AppError('conversation_busy'),
		handle: () => gate.promise,
	});
	await using _ = system;
	const accepted = ['a', 'b', 'c', 'd'].map((say) => system.ask('x', { say }));
	await assert.rejects(system.ask('x', { say: 'e' }), { code: 'conversation_busy' });
	await until(() => system.activeActor('x') !== undefined);
	await assert.rejects(system.ask('x', { say: 'f' }), { code: 'conversation_busy' });
	const control = system.ask('x', { say: 'stop' }, { lane: 'control' });
	gate.resolve();
	assert.deepEqual(await control, ['a', 'stop']);
	assert.deepEqual(await accepted[3], ['a', 'stop', 'b', 'c', 'd']);
});

test('callers who need a sleeping actor at once share one load', async () => {
	const { system, loads } = notebooks();
	await using _ = system;
	await Promise.all(['a', 'b', 'c'].map((say) => system.ask('x', { say })));
	assert.equal(loads(), 1);
});

test('a load that fails is the answer to all who wait, and the next message tries again', async () => {
	let loads = 0;
	await using system = new ActorSystem<string, string>({
		load: async () => {
			if (++loads === 1) throw new AppError('not_found');
			return { handle: (message) => message };
		},
		reportFailure: unexpected,
	});
	const outcomes = await Promise.allSettled([system.ask('x', 'a'), system.ask('x', 'b')]);
	for (const outcome of outcomes) {
		assert.ok(outcome.status === 'rejected');
		assert.equal((outcome.reason as AppError).code, 'not_found');
	}
	assert.equal(system.residents, 0);
	assert.equal(await system.ask('x', 'c'), 'c');
	assert.equal(loads, 2);
});

test('an AppError is an answer and the actor lives on', async () => {
	const { system, loads } = notebooks({
		handle: (_id, say) => {
			if (say === 'no') throw new AppError('invalid_request');
		},
	});
	await using _ = system;
	await assert.rejects(system.ask('x', { say: 'no' }), { code: 'invalid_request' });
	await system.ask('x', { say: 'yes' });
	assert.equal(loads(), 1);
});

test('a defect discards the actor, and waiting messages go to a newly loaded actor', async () => {
	const { system, loads } = notebooks({
		handle: (_id, say) => {
			if (say === 'defect') throw new TypeError('defect');
		},
	});
	await using _ = system;
	const [a, defect, b] = ['a', 'defect', 'b'].map((say) => system.ask('x', { say }));
	assert.deepEqual(await a, ['a']);
	await assert.rejects(defect!, TypeError);
	assert.deepEqual(await b, ['a', 'b']);
	assert.equal(loads(), 2);
});

test('a late report of a discarded incarnation is dropped, never given to its successor', async () => {
	const handled: string[] = [];
	const selves: { tell(message: string): boolean; ask(message: string): Promise<unknown>; alive: boolean }[] = [];
	let discarded = 0;
	await using system = new ActorSystem<string, unknown>({
		load: (_id, self) => {
			const incarnation = selves.push(self);
			return {
				handle(message) {
					handled.push(`${incarnation} ${message}`);
					if (message !== 'defect') return;
					self.tell('already posted');
					throw new Error('defect');
				},
				discard: () => discarded++,
			};
		},
		reportFailure: unexpected,
	});
	await assert.rejects(system.ask('x', 'defect'), /defect/);
	await system.ask('x', 'hello');
	const [first, second] = selves;
	assert.equal(first!.alive, false);
	assert.equal(first!.tell('late'), false);
	await assert.rejects(first!.ask('late'), ActorGoneError);
	assert.equal(second!.tell('in time'), true);
	await second!.ask('in time too');
	assert.deepEqual(handled, ['1 defect', '2 hello', '2 in time', '2 in time too']);
	assert.equal(discarded, 1);
});

test('reports a failure that no caller waits for', async () => {
	const { system, reports } = notebooks({
		handle: (_id, say) => {
			throw new Error(say);
		},
	});
	await using _ = system;
	system.tell('x', { say: 'unheard' });
	await until(() => reports.length === 1);
	assert.match(String(reports[0]), /unheard/);
});

test('removes a message that waits past its deadline', async () => {
	const gate = deferred<void>();
	const { system, stored } = notebooks({ handle: () => gate.promise });
	await using _ = system;
	const first = system.ask('x', { say: 'a' });
	await assert.rejects(system.ask('x', { say: 'late' }, { deadlineMs: 5 }), { code: 'unavailable' });
	gate.resolve();
	await first;
	await system.ask('x', { say: 'b' });
	assert.deepEqual(stored.get('x'), ['a', 'b']);
});

test('passivates an idle actor, and loads it again from the store', async () => {
	let now = 0;
	const { system, loads } = notebooks({ idleMs: 1_000, clock: { now: () => now } });
	await using _ = system;
	await system.ask('x', { say: 'a' });
	now = 999;
	system.sweep();
	assert.equal(system.residents, 1);
	assert.ok(system.activeActor('x'), 'a peek counts as a use');
	now = 1_998;
	system.sweep();
	assert.equal(system.residents, 1);
	now = 1_999;
	system.sweep();
	assert.equal(system.residents, 0);
	assert.equal(system.activeActor('x'), undefined);
	assert.deepEqual(await system.ask('x', { say: 'b' }), ['a', 'b']);
	assert.equal(loads(), 2);
});

test('the sweep runs by itself', async () => {
	const { system } = notebooks({ idleMs: 10 });
	await using _ = system;
	await system.ask('x', { say: 'a' });
	await until(() => system.residents === 0);
});

test('over the limit, the least recently used actor is passivated, but never an actor in use', async () => {
	const inUse = new Set(['a']);
	await using system = new ActorSystem<string, string>({
		load: (id) => ({ handle: () => id, canPassivate: () => !inUse.has(id) }),
		reportFailure: unexpected,
		maxResident: 3,
	});
	for (const id of ['a', 'b', 'c']) await system.ask(id, '');
	await system.ask('b', '');
	await system.ask('d', '');
	assert.deepEqual(
		['a', 'b', 'c', 'd'].filter((id) => system.activeActor(id)),
		['a', 'b', 'd'],
	);
	assert.equal(system.residents, 3);
	inUse.clear();
});

test('a message during a passivation activates the actor after it', async () => {
	const events: string[] = [];
	const saved = deferred<void>();
	await using system = new ActorSystem<string, void>({
		load: () => {
			events.push('load');
			return {
				handle: (message) => void events.push(message),
				async passivate() {
					await saved.promise;
					events.push('saved');
				},
			};
		},
		reportFailure: unexpected,
		idleMs: 0,
	});
	await system.ask('x', 'a');
	system.sweep();
	assert.equal(system.activeActor('x'), undefined, 'it is not to be used while it leaves');
	const answer = system.ask('x', 'b');
	saved.resolve();
	await answer;
	assert.deepEqual(events.slice(0, 5), ['load', 'a', 'saved', 'load', 'b']);
});

test('a failed save is reported, stops the actor’s background work, and the actor is loaded again', async () => {
	const reports: unknown[] = [];
	const discarded: number[] = [];
	let loads = 0;
	await using system = new ActorSystem<string, number>({
		load: () => {
			const incarnation = ++loads;
			return {
				handle: () => incarnation,
				discard: () => discarded.push(incarnation),
				passivate: () => {
					if (incarnation === 1) throw new Error('disk full');
				},
			};
		},
		reportFailure: (_id, thrown) => reports.push(thrown),
		idleMs: 0,
	});
	assert.equal(await system.ask('x', 'a'), 1);
	system.sweep();
	assert.match(String(reports[0]), /disk full/);
	assert.deepEqual(discarded, [1]);
	assert.equal(await system.ask('x', 'b'), 2);
});

test('draining finishes running work, rejects waiting and new messages, and saves every actor', async () => {
	const saved: string[] = [];
	const work = deferred<void>();
	const system = new ActorSystem<string, string>({
		load: (id, self) => {
			let busy = false;
			return {
				async handle(message) {
					if (message === 'work') {
						busy = true;
						void work.promise.then(() => self.ask('done'));
					}
					if (message === 'done') busy = false;
					return message;
				},
				acceptsUserMessages: () => !busy,
				canPassivate: () => !busy,
				passivate: () => void saved.push(id),
			};
		},
		reportFailure: unexpected,
	});
	await system.ask('idle', 'hello');
	await system.ask('busy', 'work');
	const waiting = system.ask('busy', 'waits');
	const drained = system.drain();
	await assert.rejects(waiting, { code: 'unavailable' });
	await assert.rejects(system.ask('other', 'new'), { code: 'unavailable' });
	await assert.rejects(system.ask('busy', 'new'), { code: 'unavailable' });
	assert.deepEqual(saved, ['idle']);
	assert.equal(await system.ask('busy', 'stop', { lane: 'control' }), 'stop');
	work.resolve();
	await drained;
	assert.deepEqual(saved, ['idle', 'busy']);
	assert.equal(system.residents, 0);
});

test('draining sees an actor that becomes free without any message', async () => {
	let free = false;
	const system = new ActorSystem<string, string>({
		load: () => ({ handle: (message) => message, canPassivate: () => free }),
		reportFailure: unexpected,
	});
	await system.ask('x', 'a');
	const drained = system.drain(10_000);
	assert.equal(system.residents, 1);
	free = true;
	await drained;
	assert.equal(system.residents, 0);
});

test('abandons and rejects unfinished work at the deadline of a drain', async () => {
	let discarded = 0;
	const system = new ActorSystem<string, string>({
		load: () => ({ handle: () => new Promise<string>(() => {}), discard: () => discarded++ }),
		reportFailure: unexpected,
	});
	const stuck = system.ask('x', 'a');
	const refused = assert.rejects(stuck, { code: 'unavailable' });
	await until(() => system.activeActor('x') !== undefined);
	await system.drain(5);
	await refused;
	assert.equal(discarded, 1);
	assert.equal(system.residents, 0);
});

test('abandoned actors are discarded at once and loaded again by the next message, and the others go on', async () => {
	const loads: string[] = [];
	const discarded: string[] = [];
	await using system = new ActorSystem<string, string>({
		load: (id) => {
			loads.push(id);
			const first = loads.filter((one) => one === id).length === 1;
			return {
				handle: (message) => (message === 'wait' && first ? new Promise<string>(() => {}) : message),
				discard: () => discarded.push(id),
			};
		},
		reportFailure: unexpected,
		drainTimeoutMs: 1,
	});
	const running = assert.rejects(system.ask('lost', 'wait'), { code: 'unavailable', message: 'It has moved.' });
	const waiting = assert.rejects(system.ask('lost', 'later'), { code: 'unavailable', message: 'lost is elsewhere.' });
	assert.equal(await system.ask('kept', 'one'), 'one');
	assert.deepEqual([...system.busyIds()], ['lost']);
	system.abandonWhere(
		(id) => id === 'lost',
		(id) => ({
			running: new AppError('unavailable', 'It has moved.'),
			waiting: new AppError('unavailable', `${id} is elsewhere.`),
		}),
	);
	await Promise.all([running, waiting]);
	assert.deepEqual(discarded, ['lost']);
	assert.equal(await system.ask('lost', 'again'), 'again');
	assert.equal(await system.ask('kept', 'two'), 'two');
	assert.deepEqual(loads, ['lost', 'kept', 'lost']);
});

test('an actor that finds that another node has taken over is loaded again', async () => {
	let loads = 0;
	await using system = new ActorSystem<string, number>({
		load: (id) => {
			const number = ++loads;
			return {
				handle: () => {
					if (number === 1) throw new OtherNodeError(id);
					return number;
				},
			};
		},
		reportFailure: unexpected,
	});
	await assert.rejects(system.ask('x', 'store'), OtherNodeError);
	assert.equal(await system.ask('x', 'store'), 2);
});

test('an actor that sends itself messages without end yields to the event loop', async () => {
	let rounds = 0;
	await using system = new ActorSystem<string, void>({
		load: (_id, self) => ({
			handle(message) {
				rounds++;
				if (message === 'on') self.tell('on');
			},
		}),
		reportFailure: unexpected,
		drainTimeoutMs: 1,
	});
	system.tell('x', 'on');
	await until(() => rounds > 10_000);
});

test('bounds reports that come faster than they are handled', async () => {
	await using system = new ActorSystem<string, string>({
		load: (_id, self) => ({
			handle(message) {
				if (message === 'flood') for (;;) self.tell('report');
				return message;
			},
		}),
		reportFailure: unexpected,
		controlLimit: 10,
	});
	await assert.rejects(system.ask('x', 'flood'), MailboxFullError);
	assert.equal(await system.ask('x', 'still there'), 'still there');
});
