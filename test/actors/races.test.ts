import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Actor, ActorSystem, type MailboxLane, type SelfRef } from '../../src/actors/index.ts';
import { AppError } from '../../src/base/index.ts';

type Effect = 'keep' | 'refuse' | 'defect' | 'report';
interface Message {
	number: number;
	lane: MailboxLane;
	effect: Effect;
}
type Step = { do: 'send'; id: string; lane: MailboxLane; effect: Effect } | { do: 'sweep' };

const steps: fc.Arbitrary<Step[]> = fc.array(
	fc.oneof(
		{
			weight: 5,
			arbitrary: fc.record({
				do: fc.constant('send' as const),
				id: fc.constantFrom('a', 'b', 'c'),
				lane: fc.constantFrom<MailboxLane>('control', 'user'),
				effect: fc.constantFrom<Effect>('keep', 'keep', 'keep', 'refuse', 'defect', 'report'),
			}),
		},
		{ weight: 1, arbitrary: fc.record({ do: fc.constant('sweep' as const) }) },
	),
	{ minLength: 1, maxLength: 14 },
);

/** What one id went through, checked while it happens. */
class Witness {
	alive = 0;
	inside = 0;
	stored: number[] = [];
	readonly posted: Message[] = [];
	readonly begun: Message[] = [];
	readonly failedLoads = new Set<number>();

	begins(message: Message): void {
		assert.equal(++this.inside, 1, 'two handlers of one actor at once');
		if (message.lane === 'user') {
			const overtaken = this.posted.filter(
				(other) => other.lane === 'control' && !this.begun.includes(other) && !this.failedLoads.has(other.number),
			);
			assert.deepEqual(overtaken, [], 'a user message went before a control message that waited');
		}
		this.begun.push(message);
	}
}

test('any interleaving keeps one actor per id, one message at a time, none lost, each lane in order', async () => {
	await fc.assert(
		fc.asyncProperty(fc.scheduler(), steps, fc.infiniteStream(fc.nat(9)), async (scheduler, script, dice) => {
			const witnesses = new Map(['a', 'b', 'c'].map((id) => [id, new Witness()]));
			const pass = (label: string) => scheduler.schedule(Promise.resolve(), label);
			const unlucky = () => dice.next().value === 0;
			const strays: unknown[] = [];
			let reportsHeard = 0;
			let reportsSent = 0;

			async function load(id: string, self: SelfRef<Message, number[]>): Promise<Actor<Message, number[]>> {
				const witness = witnesses.get(id)!;
				assert.equal(++witness.alive, 1, 'two incarnations at once');
				await pass(`load ${id}`);
				if (unlucky()) {
					witness.alive--;
					throw new AppError('not_found');
				}
				const memory = [...witness.stored];
				let ended = false;
				return {
					async handle(message) {
						assert.equal(ended, false, 'an incarnation that has ended was given a message');
						if (message.number < 0) {
							reportsHeard++;
							return memory;
						}
						witness.begins(message);
						memory.push(message.number);
						await pass(`handle ${id} ${message.number}`);
						witness.inside--;
						if (message.effect === 'defect') throw new Error('defect');
						if (message.effect === 'refuse') {
							memory.pop();
							throw new AppError('invalid_request');
						}
						if (message.effect === 'report') {
							void pass('work').then(() => {
								if (self.tell({ number: -1, lane: 'control', effect: 'keep' })) reportsSent++;
							});
						}
						witness.stored = [...memory];
						return memory;
					},
					async passivate() {
						await pass(`passivate ${id}`);
						assert.deepEqual(memory, witness.stored, 'memory was ahead of the store');
						ended = true;
						witness.alive--;
						if (unlucky()) throw new Error('not saved');
					},
					discard() {
						if (!ended) witness.alive--;
						ended = true;
					},
				};
			}

			const system = new ActorSystem<Message, number[]>({
				load,
				reportFailure: (_id, thrown) => strays.push(thrown),
				idleMs: 0,
				maxResident: 2,
				mailboxLimit: 100,
			});
			const outcomes = script.map(async (step, number) => {
				await pass(`step ${number}`);
				if (step.do === 'sweep') return system.sweep();
				const { id, lane, effect } = step;
				const message = { number, lane, effect };
				const witness = witnesses.get(id)!;
				witness.posted.push(message);
				try {
					await system.ask(id, message, { lane });
					assert.ok(effect === 'keep' || effect === 'report');
				} catch (thrown) {
					if (thrown instanceof AppError && thrown.code === 'not_found') witness.failedLoads.add(number);
					else if (effect === 'refuse') assert.equal((thrown as AppError).code, 'invalid_request');
					else assert.match(String(thrown), effect === 'defect' ? /defect/ : /never/);
				}
			});
			await scheduler.waitFor(Promise.all(outcomes));
			await scheduler.waitFor(system.drain());

			for (const witness of witnesses.values()) {
				assert.equal(witness.alive, 0);
				for (const lane of ['control', 'user']) {
					const numbers = (messages: Message[]) =>
						messages
							.filter((message) => message.lane === lane && !witness.failedLoads.has(message.number))
							.map(({ number }) => number);
					assert.deepEqual(numbers(witness.begun), numbers(witness.posted), `${lane} messages in order, none lost`);
				}
				const kept = witness.begun.filter(({ effect }) => effect === 'keep' || effect === 'report');
				assert.deepEqual(
					witness.stored,
					kept.map(({ number }) => number),
				);
			}
			assert.ok(reportsHeard <= reportsSent);
			for (const stray of strays) assert.match(String(stray), /not saved/);
			assert.equal(system.residents, 0);
		}),
		{ numRuns: 400 },
	);
});
