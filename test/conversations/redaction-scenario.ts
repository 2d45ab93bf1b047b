import assert from 'node:assert/strict';
import { AsyncDisposableStack } from '../../src/base/index.ts';
import type { Settings } from '../../src/config/index.ts';
import { createApiFixture, createResource } from '../api/fixture.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { type ModelCall, ModelServer } from '../support/model-server.ts';

export const EMAIL = 'ada.canary@example.com';
export const PHONE = '+44 7700 900123';
export const CARD = '4111 1111 1111 1111';
export const KINDS = ['email', 'phone', 'card'];

interface ScenarioOptions {
	redaction?: string[];
	texts?: string[];
	/** The model of the assistant, and the embedder; by default those of the provider and the server. */
	model?: string;
	embedder?: string;
}

/** A server with an assistant that redacts, and its model at a provider that records what it is sent. */
export class RedactionScenario implements AsyncDisposable {
	app: TestApp;
	readonly models: ModelServer;
	readonly deployment: string;
	readonly assistant: string;
	readonly #resources: AsyncDisposableStack;

	private constructor(
		app: TestApp,
		models: ModelServer,
		ids: { deployment: string; assistant: string },
		resources: AsyncDisposableStack,
	) {
		this.app = app;
		this.models = models;
		this.deployment = ids.deployment;
		this.assistant = ids.assistant;
		this.#resources = resources;
	}

	static async start(options: ScenarioOptions = {}): Promise<RedactionScenario> {
		const { redaction = KINDS, texts = [], model = 'stand-in/small', embedder } = options;
		await using resources = new AsyncDisposableStack();
		const models = resources.use(await ModelServer.start());
		const settings: Partial<Settings> = {
			allow_private_network: true,
			providers: [models.provider()],
			...(embedder === undefined ? {} : { embedder }),
		};
		const app = await startTestApp({ settings });
		const scenario = new RedactionScenario(app, models, await fixtureOf(app, texts, model), resources.move());
		if (redaction.length > 0) await scenario.configure({ redaction });
		return scenario;
	}

	async configure(fields: object): Promise<void> {
		const { status, body } = await this.app.call('PATCH', `/api/v1/assistants/${this.assistant}`, fields);
		assert.equal(status, 200, JSON.stringify(body));
	}

	async send(content: string, conversation_id?: string) {
		const { status, body } = await this.post(content, conversation_id);
		assert.equal(status, 201, JSON.stringify(body));
		return body;
	}

	post(content: string, conversation_id?: string, headers?: Record<string, string>) {
		const body = { deployment_id: this.deployment, content, conversation_id };
		return this.app.call('POST', '/api/v1/messages', body, headers);
	}

	/** Attaches a tool that takes an e-mail address and a note. */
	async attachTool(origin: string): Promise<void> {
		const properties = { email: { type: 'string', format: 'email' }, note: { type: 'string' } };
		const parameters = { type: 'object', properties, required: ['email'] };
		const body = { email: '{email}', note: '{note}' };
		const config = { method: 'POST', url: `${origin}/customers`, body, parameters };
		const tool_id = await createResource(this.app, '/api/v1/tools', { name: 'find_customer', type: 'api', config });
		const { status } = await this.app.call('POST', `/api/v1/assistants/${this.assistant}/tools`, { tool_id });
		assert.equal(status, 200);
	}

	async restart(): Promise<void> {
		this.app = await this.app.restart();
	}

	/** Fails where the provider was sent a value, or a part of one. */
	assertNoCanary(): void {
		const sent = JSON.stringify([...this.models.calls, ...this.models.embeddings.calls].map(({ body }) => body));
		for (const canary of [EMAIL, PHONE, CARD, 'canary', '7700', '900123', '4111']) {
			assert.ok(!sent.toLowerCase().includes(canary), `${canary} in ${sent}`);
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.app[Symbol.asyncDispose]();
		await this.#resources[Symbol.asyncDispose]();
	}
}

async function fixtureOf(app: TestApp, texts: string[], model: string) {
	try {
		return await createApiFixture(app, { texts, model });
	} catch (error) {
		await app[Symbol.asyncDispose]();
		throw error;
	}
}

/** The texts of the messages that a provider was sent, without the system message. */
export function messagesOf(call: ModelCall | undefined): string[] {
	return call?.body.messages.slice(1).map(({ content }: { content: string }) => content) ?? [];
}
