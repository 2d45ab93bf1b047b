import type { OperationName } from './simulated-api.ts';
import { require } from './violation.ts';
import { REPEATABLE_MS } from './visitors.ts';
import type { Outcome, World } from './world.ts';

interface Change {
	operation: OperationName;
	conversationId: string;
	body?: Record<string, unknown>;
	query?: Record<string, unknown>;
	/** Repeated with the same Idempotency-Key where the response is lost. */
	key: string | null;
	onAcknowledged(outcome: Exclude<Outcome, 'lost'>): void;
}

/** People of the workspace: they take over, answer, release, change, archive and erase conversations. */
export class Agents {
	readonly #world: World;
	#numbers = 0;

	constructor(world: World) {
		this.#world = world;
	}

	takeOver(conversationId: string): void {
		this.#changeVersioned('takeOverConversation', conversationId, 'human');
	}

	release(conversationId: string): void {
		this.#changeVersioned('releaseConversation', conversationId, 'model');
	}

	say(conversationId: string): void {
		const { ledger } = this.#world;
		const content = `answer of a person ${++this.#numbers}`;
		const key = this.#newKey();
		ledger.agentContents.set(content, { key, attempts: 0 });
		this.#change({
			operation: 'sayInConversation',
			conversationId,
			body: { content },
			key,
			onAcknowledged: ({ body }) => {
				const { id } = body as { id: string };
				ledger.agentMessages.set(id, { conversationId, content });
			},
		});
	}

	rename(conversationId: string): void {
		const title = `title ${++this.#numbers}`;
		this.#patch(conversationId, { title });
	}

	archive(conversationId: string): void {
		this.#patch(conversationId, { status: 'archived' });
	}

	reopen(conversationId: string): void {
		this.#patch(conversationId, { status: 'active' });
	}

	purge(conversationId: string): void {
		const { ledger } = this.#world;
		ledger.purgesRequested.add(conversationId);
		this.#change({
			operation: 'deleteConversation',
			conversationId,
			query: { purge: true },
			key: null,
			onAcknowledged: () => ledger.purgesAcknowledged.add(conversationId),
		});
	}

	#changeVersioned(operation: OperationName, conversationId: string, handledBy: string): void {
		const { ledger } = this.#world;
		this.#change({
			operation,
			conversationId,
			key: this.#newKey(),
			onAcknowledged: ({ body, version }) => {
				require(body?.handled_by === handledBy, () => `${operation} of ${conversationId} has no effect`);
				// A stored response to a repeat names no version.
				if (version !== null) ledger.changes.push({ conversationId, version });
			},
		});
	}

	#patch(conversationId: string, patch: Record<string, unknown>): void {
		const { ledger } = this.#world;
		this.#change({
			operation: 'updateConversation',
			conversationId,
			body: patch,
			key: null,
			onAcknowledged: ({ version }) => ledger.changes.push({ conversationId, version: version ?? 0 }),
		});
	}

	/** @param at the time of the first attempt */
	#change(change: Change, at = this.#world.scheduler.time): void {
		const { operation, conversationId, body, query, key, onAcknowledged } = change;
		const { ledger, random, scheduler } = this.#world;
		const said = ledger.agentContents.get(String(body?.content));
		if (said) said.attempts++;
		const headers: Record<string, string> = key === null ? {} : { 'idempotency-key': key };
		const request = {
			operation,
			params: { id: conversationId },
			...(body ? { body } : {}),
			...(query ? { query } : {}),
			headers,
		};
		this.#world.request(`${operation} ${conversationId}`, request, (outcome) => {
			if (outcome !== 'lost' && outcome.status < 300) {
				if (key !== null) ledger.recordKeyedResponse(key, outcome.body);
				onAcknowledged(outcome);
			} else if (outcome !== 'lost' && outcome.status < 500) {
				if (said && key === null) said.attempts--;
			} else {
				const isDefect = outcome !== 'lost' && outcome.status === 500;
				require(!isDefect, () => `${operation} failed with internal_error`);
				if (key === null || this.#world.isSettling || !random.chance(0.8)) return;
				const repeat = () => {
					if (scheduler.time - at < REPEATABLE_MS) this.#change(change, at);
				};
				this.#world.later(`repeat ${operation}`, random.next() * 3_000, repeat);
			}
		});
	}

	#newKey(): string | null {
		return this.#world.random.chance(0.6) ? `agent-key-${++this.#numbers}` : null;
	}
}
