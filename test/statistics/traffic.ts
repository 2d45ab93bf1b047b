import assert from 'node:assert/strict';
import type { ChatProvider, ModelEvent } from '../../src/models/index.ts';
import { createResource, untilSettled } from '../api/fixture.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { manualWallClock } from '../support/manual-clock.ts';
import { streamFrom } from '../support/model-events.ts';
import { type RecordedEvent, recordedEvents } from './recount.ts';

type ManualWallClock = ReturnType<typeof manualWallClock>;

/** The first day of the traffic. */
export const FIRST_DAY = Date.UTC(2026, 9, 5, 7, 30);

/** A model that does what the question says, in the time that it says: `cite 300 kettle`, `call 50 kettle`. */
function directedModel(clock: ManualWallClock): ChatProvider {
	const stream = streamFrom(async function* ({ question, rounds }): AsyncGenerator<ModelEvent> {
		const [action, ms] = question.split(' ');
		clock.advance(Number(ms));
		if (action === 'fail') throw new Error('no answer');
		if (action === 'call' && rounds.length === 0) {
			yield { type: 'tool_call', id: 'call_1', name: 'lookup', arguments: {} };
			return;
		}
		yield { type: 'delta', text: action === 'cite' ? 'Steel. [1]' : 'Steel' };
		clock.advance(Number(ms) * 2);
		yield { type: 'delta', text: ', I think.' };
		yield { type: 'usage', input_tokens: 100 + question.length, output_tokens: 7 };
	});
	return { id: 'directed', models: null, chat: { stream } };
}

export interface Traffic extends AsyncDisposable {
	app: TestApp;
	clock: ManualWallClock;
	/** Deployments of two assistants: the first has documents and a tool, the second only quotes documents. */
	directed: string;
	quoting: string;
	assistant: string;
	/** A document that is never cited. */
	unread: string;
	send(deployment: string, content: string, conversation?: string): Promise<{ id: string; conversation_id: string }>;
	/** The events of the log so far, from the database. */
	log(): RecordedEvent[];
}

export async function startTraffic(): Promise<Traffic> {
	const clock = manualWallClock(FIRST_DAY);
	const app = await startTestApp({
		settings: { allow_private_network: true },
		overrides: { clock, providers: [directedModel(clock)] },
	});
	const base = await createResource(app, '/api/v1/knowledge-bases', { name: 'Shop' });
	const documents = `/api/v1/knowledge-bases/${base}/documents`;
	const text = (content: string) => createResource(app, documents, { source_type: 'text', content });
	await text('The Lumen kettle is made of steel and costs forty euros.');
	const unread = await text('Gift vouchers expire after three years.');
	await untilSettled(app, base);
	const config = { method: 'GET', url: `${app.url}/healthz` };
	const tool = await createResource(app, '/api/v1/tools', { name: 'lookup', type: 'api', config });
	const deploy = async (model: string, tools: string[]) => {
		const rag_settings = { query_rewrite: 'never', top_k: 1 };
		const assistant = await createResource(app, '/api/v1/assistants', { name: 'Guide', model, rag_settings });
		const path = `/api/v1/assistants/${assistant}`;
		await app.call('POST', `${path}/knowledge-bases`, { knowledge_base_id: base });
		for (const tool_id of tools) await app.call('POST', `${path}/tools`, { tool_id });
		const deployment = await createResource(app, '/api/v1/deployments', { assistant_id: assistant });
		return { assistant, deployment };
	};
	const { assistant, deployment: directed } = await deploy('directed/any', [tool]);
	const { deployment: quoting } = await deploy('builtin/extractive', []);
	return {
		...{ app, clock, directed, quoting, assistant, unread },
		async send(deployment_id, content, conversation_id) {
			const message = { deployment_id, content, ...(conversation_id ? { conversation_id } : {}) };
			const { status, body } = await app.call('POST', '/api/v1/messages', message);
			assert.ok(status === 201 || content.startsWith('fail'), JSON.stringify(body));
			return body;
		},
		log: () => recordedEvents(app.dataDir),
		[Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
	};
}
