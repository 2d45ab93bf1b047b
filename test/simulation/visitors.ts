import type { ConversationEvent } from '../../src/conversations/index.ts';
import { checkStatement } from './check-statements.ts';
import { StreamReading } from './follower.ts';
import type { SentMessage } from './ledger.ts';
import type { SimulatedServer } from './simulated-server.ts';
import { StreamView } from './stream-view.ts';
import { require } from './violation.ts';
import type { Outcome, World } from './world.ts';

/** Clients repeat a request within the 24 hours for which its key is known. */
export const REPEATABLE_MS = 12 * 3_600_000;

/** Visitors: they send messages, repeat requests whose response they miss, and stop replies. */
export class Visitors {
	readonly #world: World;
	/** Streams of turns that are being read. */
	readonly readings = new Set<StreamReading>();
	#numbers = 0;

	constructor(world: World) {
		this.#world = world;
	}

	/** Sends a new message, to a conversation or to a new one. */
	send(conversationId: string | undefined, { keyed }: { keyed: boolean }): void {
		const number = ++this.#numbers;
		const sent: SentMessage = {
			content: `question ${number}`,
			key: keyed ? `key-${number}` : null,
			conversationId,
			sentAt: this.#world.scheduler.time,
			uncertain: 0,
			questionId: null,
			replyId: null,
			idForPerson: null,
			response: null,
		};
		this.#world.ledger.sent.push(sent);
		this.#attempt(sent);
	}

	/** Repeats the request of any earlier message, also if the reply to it is still being written. */
	repeat(): void {
		const keyed = this.#world.ledger.sent.filter(({ key }) => key !== null);
		if (keyed.length > 0) this.#attempt(this.#world.random.pick(keyed as [SentMessage]));
	}

	/** Stops the reply that is being written. When the response comes, it has ended, and no process writes it again. */
	stop(conversationId: string): void {
		const params = { id: conversationId };
		const unfinished = () =>
			checkStatement(
				this.#world.db,
				"SELECT id, version FROM messages WHERE conversation_id = ? AND status = 'in_progress'",
			).get(conversationId) as { id: string; version: number } | undefined;
		const before = unfinished();
		this.#world.request(`stop ${conversationId}`, { operation: 'stopReply', params }, (outcome) => {
			if (outcome === 'lost' || outcome.status !== 200 || before === undefined) return;
			const found = unfinished();
			require(found?.id !== before.id || found.version !== before.version, () => `${before.id} was not stopped`);
		});
	}

	#attempt(sent: SentMessage): void {
		const { random, deploymentId, scheduler } = this.#world;
		const { content, key, conversationId, sentAt } = sent;
		if (scheduler.time - sentAt > REPEATABLE_MS) return;
		sent.uncertain++;
		const stream = random.chance(0.5);
		// The fingerprint of a repeat is that of the first request: the response's form is asked for by a header.
		const headers: Record<string, string> = stream ? { accept: 'text/event-stream' } : {};
		if (key !== null) headers['idempotency-key'] = key;
		const conversation = conversationId === undefined ? {} : { conversation_id: conversationId };
		const body = { deployment_id: deploymentId, content, ...conversation };
		const giveUpMs = random.chance(0.2) ? random.next() * 3_000 : undefined;
		const request = { operation: 'sendMessage' as const, body, headers };
		this.#world.request(`send '${content}'`, request, (outcome) => this.#onOutcome(sent, outcome), giveUpMs);
	}

	#onOutcome(sent: SentMessage, outcome: Outcome): void {
		if (outcome === 'lost') {
			this.#maybeRepeat(sent);
			return;
		}
		const { status, body, events, server } = outcome;
		if (events !== null) {
			this.#readTurn(sent, events, server);
			return;
		}
		if (status === 200 || status === 201) {
			this.#acknowledgeWhole(sent, body as never);
			return;
		}
		const { code } = (body as { error: { code: string } }).error;
		require(code !== 'internal_error', () => `sending '${sent.content}' failed with internal_error`);
		// Nothing was stored.
		if (status < 500) sent.uncertain--;
		if (status >= 429) this.#maybeRepeat(sent);
	}

	#acknowledgeWhole(sent: SentMessage, message: { id: string; role: string; user_message: { id: string } }): void {
		const replyId = message.role === 'assistant' ? message.id : null;
		this.#world.ledger.acknowledge(sent, message.user_message.id, replyId);
		if (replyId === null) sent.idForPerson = message.user_message.id;
		else this.#world.ledger.recordResponse(sent, message);
	}

	/** Reads the stream of a turn: the question, the reply, its text, its end. */
	#readTurn(sent: SentMessage, events: NonNullable<Exclude<Outcome, 'lost'>['events']>, server: SimulatedServer): void {
		const { scheduler, random, ledger } = this.#world;
		const view = new StreamView(() => this.#world.totals.faults > 0);
		view.onOpened();
		let eventCount = 0;
		const disconnectAfter = random.chance(0.2) ? random.between(1, 6) : Number.POSITIVE_INFINITY;
		const onEvent = (event: ConversationEvent) => {
			view.apply(event);
			const [question, reply, ...others] = view.messages.keys();
			require(others.length === 0, () => `the stream of the turn of '${sent.content}' shows more than two messages`);
			ledger.acknowledge(sent, question as string, reply ?? null);
			require(view.messages.get(question as string)?.text === sent.content, () => {
				return `the turn of '${sent.content}' begins with another question`;
			});
			if (++eventCount === disconnectAfter) {
				reading.close();
				this.#maybeRepeat(sent);
			}
		};
		const reading: StreamReading = new StreamReading(scheduler, server, events, {
			label: `turn of '${sent.content}'`,
			pauseMs: random.chance(0.2) ? 2_000 : 3,
			onEvent,
			onEnd: (error) => {
				this.readings.delete(reading);
				if (error !== null) this.#maybeRepeat(sent);
				// A node also ends the streams of a conversation that another one serves from then on.
				else if (view.messages.size === 1 && server.node === null) sent.idForPerson = sent.questionId;
			},
		});
		this.readings.add(reading);
	}

	#maybeRepeat(sent: SentMessage): void {
		const { random, isSettling } = this.#world;
		if (sent.key === null || isSettling || !random.chance(0.8)) return;
		this.#world.later(`repeat '${sent.content}'`, random.next() * 4_000, () => this.#attempt(sent));
	}
}
