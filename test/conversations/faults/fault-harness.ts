import assert from 'node:assert/strict';
import type { ProviderSettings } from '../../../src/models/index.ts';
import { openStoreDirectly } from '../../api/direct-store.ts';
import { createResource } from '../../api/fixture.ts';
import { startTestApp, type TestApp, type TestAppOptions } from '../../support/app.ts';
import { eventsOf, type ReceivedEvent } from '../../support/event-stream.ts';
import { ModelServer } from '../../support/model-server.ts';
import { until } from '../../support/until.ts';
import { follow } from '../streams.ts';
import { EventLog, type LoggedEvent } from './event-log.ts';

/** How a reply is asked for: whole, as the answer of the request, or streamed. */
export const MODES = ['whole', 'streamed'] as const;
export type Mode = (typeof MODES)[number];

/** A scene that holds a reply is not ended by a deadline of its provider, however busy the machine is. */
const PATIENT = { first_token_timeout_ms: 300_000, idle_timeout_ms: 300_000 };

/** A message as the API shows it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every kind
export type ShownMessageBody = any;

/** What a client was answered. */
export interface ObservedReply {
	status: number;
	/** Of a whole answer; null of a streamed one. */
	body: ShownMessageBody;
	/** Of a streamed answer; none of a whole one. */
	events: ReceivedEvent[];
}

/**
 * A server that answers with stand-in models, one for each scene: what one of them does opens no other's circuit, so that
 * scenes can play at the same time.
 */
export class FaultHarness implements AsyncDisposable {
	app: TestApp;
	#log: EventLog;
	readonly #models: ModelServer[];
	#taken = 0;

	private constructor(app: TestApp, models: ModelServer[]) {
		this.app = app;
		this.#log = new EventLog(app);
		this.#models = models;
	}

	/** @param providers what is particular to the provider of each scene, in order */
	static async start(
		providers: readonly Partial<ProviderSettings>[],
		{ settings, ...options }: TestAppOptions = {},
	): Promise<FaultHarness> {
		const models = await Promise.all(providers.map(() => ModelServer.start()));
		const all = models.map((model, at) => model.provider({ id: `stand-in-${at}`, ...PATIENT, ...providers[at] }));
		const app = await startTestApp({
			settings: { providers: all, allow_private_network: true, ...settings },
			...options,
		});
		return new FaultHarness(app, models);
	}

	/** The next scene, with an assistant and a deployment of its own. */
	async scenario(): Promise<FaultScenario> {
		const at = this.#taken++;
		const model = this.#models[at];
		assert.ok(model, 'there are providers for fewer scenes');
		const assistant = await createResource(this.app, '/api/v1/assistants', {
			name: 'Guide',
			model: `stand-in-${at}/small`,
		});
		const deployment = await createResource(this.app, '/api/v1/deployments', { assistant_id: assistant });
		return new FaultScenario(this, model, assistant, deployment);
	}

	/** The workspace's events that tell of a conversation, in order. */
	eventsOf(conversation: string): Promise<LoggedEvent[]> {
		return this.#log.of(conversation);
	}

	/** The log for somebody who reads it from its beginning now. */
	freshLog(): EventLog {
		return new EventLog(this.app);
	}

	/** Ends the server and starts another on the same data. */
	async restart(): Promise<void> {
		this.app = await this.app.restart();
		this.#log = new EventLog(this.app);
	}

	/** Fails if an unfinished reply is stored. */
	async assertNothingUnfinished(): Promise<void> {
		await using store = await openStoreDirectly(this.app);
		assert.deepEqual(await store.conversations.unfinishedReplies(), []);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.app[Symbol.asyncDispose]();
		await Promise.all(this.#models.map((model) => model[Symbol.asyncDispose]()));
	}
}

/** One conversation with one stand-in. */
export class FaultScenario {
	readonly harness: FaultHarness;
	readonly model: ModelServer;
	readonly assistant: string;
	readonly deployment: string;

	constructor(bench: FaultHarness, model: ModelServer, assistant: string, deployment: string) {
		this.harness = bench;
		this.model = model;
		this.assistant = assistant;
		this.deployment = deployment;
	}

	/** The same with another stand-in, whose model its assistant has. */
	playedBy(model: ModelServer): FaultScenario {
		return new FaultScenario(this.harness, model, this.assistant, this.deployment);
	}

	/** Sends a message, and waits until it is answered. */
	async send(
		mode: Mode,
		content: string,
		{ key, conversation, signal, onBegin }: SendOptions = {},
	): Promise<ObservedReply> {
		const { app } = this.harness;
		const body = {
			deployment_id: this.deployment,
			conversation_id: conversation,
			content,
			stream: mode === 'streamed',
		};
		const response = await fetch(`${app.url}/api/v1/messages`, {
			method: 'POST',
			headers: {
				authorization: `Bearer ${app.key}`,
				'content-type': 'application/json',
				...(key === undefined ? {} : { 'idempotency-key': key }),
			},
			body: JSON.stringify(body),
			...(signal ? { signal } : {}),
		});
		const { status } = response;
		if (mode === 'whole') return { status, body: await response.json(), events: [] };
		const events: ReceivedEvent[] = [];
		for await (const event of eventsOf(response)) if (events.push(event) === 1) onBegin?.();
		return { status, body: null, events };
	}

	/** The scene's conversation, as soon as there is one. */
	async conversation(): Promise<string> {
		return until('the conversation has begun', async () => {
			const { body } = await this.harness.app.call('GET', `/api/v1/conversations?deployment_id=${this.deployment}`);
			return body.data[0]?.id as string | undefined;
		});
	}

	/** Waits until the reply that is being written has come to this text. */
	async heard(text: string): Promise<void> {
		await using stream = await follow(this.harness.app, await this.conversation());
		let said = '';
		await stream.until(({ event, data }) => {
			if (event === 'message.delta') said += data.delta;
			return said.endsWith(text);
		});
	}

	/** The messages that are stored. */
	async messages(): Promise<ShownMessageBody[]> {
		const path = `/api/v1/conversations/${await this.conversation()}/messages`;
		const { status, body } = await this.harness.app.call('GET', path);
		assert.equal(status, 200);
		return body.data;
	}

	/** Waits until every exchange with the provider is over, and tells which the server ended before the provider did. */
	async exchangesLeft(): Promise<boolean[]> {
		return Promise.all(this.model.calls.map(({ callerLeft }) => callerLeft));
	}
}

export interface SendOptions {
	/** Its Idempotency-Key. */
	key?: string;
	conversation?: string;
	/** Aborts when the client leaves. */
	signal?: AbortSignal;
	/** Called at the first event of a stream. */
	onBegin?: () => void;
}
