import assert from 'node:assert/strict';
import { AppError, AsyncDisposableStack, newId } from '../../src/base/index.ts';
import type { ChatProvider } from '../../src/models/index.ts';
import { signWithSecret } from '../access/signers.ts';
import { httpServer } from '../net/servers.ts';
import { type ApiResponse, startTestApp, type TestApp } from '../support/app.ts';
import { streamFrom } from '../support/model-events.ts';
import { createApiFixture, createResource } from './fixture.ts';

/** A server whose visitors leave data in every place that keeps a visitor's data. */
export interface ErasableVisitors extends AsyncDisposable {
	app: TestApp;
	/** A conversation of the end user `id-<word>` with the word in every place. @returns its id */
	converse(word: string): Promise<string>;
	/** A request of the end user `id-<word>` that is refused, with the word as its key. It leaves no conversation. */
	beRefused(word: string): Promise<void>;
	/** The visitors whose budgets were reported to the webhook. */
	warnings: string[];
}

const SECRET = 'a secret of the shop, long enough';
/** A micro a token. Three calls of the model use more than 80 percent of the budget. */
const PRICE = { input: 1_000_000, output: 1_000_000, reserved_micros: 100 };
const BUDGET = 1_000;
const TOKENS_OF_CALL = 300;
/** Rounds of a reply before its answer. */
const ROUNDS = 2;

/** Looks for what a question names in each round, and then answers, or fails; answers at once if the question says so. */
const provider: ChatProvider = {
	id: 'scripted',
	models: null,
	priceOf: () => PRICE,
	chat: {
		stream: streamFrom(async function* ({ question, rounds }) {
			const isFree = !question.startsWith('Where');
			if (question.startsWith('Fail') && rounds.length === ROUNDS)
				throw new AppError('model_error', 'It has no more to say.');
			const [word = ''] = /\S+(?=\?)/.exec(question) ?? [];
			yield { type: 'delta', text: `Round ${rounds.length} about ${word}.` };
			yield { type: 'usage', input_tokens: isFree ? 0 : TOKENS_OF_CALL, output_tokens: 0 };
			if (rounds.length === ROUNDS || question.startsWith('Plainly')) return;
			const args = { item: `${word} in round ${rounds.length}` };
			yield { type: 'tool_call', id: `call ${rounds.length}`, name: 'find', arguments: args };
		}),
	},
};

export function requireSuccess({ status, body }: ApiResponse) {
	assert.ok(status < 300, JSON.stringify(body));
	return body;
}

export async function startErasableVisitors(): Promise<ErasableVisitors> {
	await using resources = new AsyncDisposableStack();
	const warnings: string[] = [];
	/** An endpoint, of a webhook and of a tool, that repeats what it gets. */
	const echo = resources.use(
		await httpServer(async (request, response) => {
			let text = '';
			for await (const chunk of request.setEncoding('utf8')) text += chunk;
			const { type, data } = JSON.parse(text);
			if (type === 'budget.warning') warnings.push(data.visitor_id);
			response.setHeader('content-type', 'application/json').end(text);
		}),
	);
	const settings = { allow_private_network: true };
	const app = resources.use(await startTestApp({ settings, overrides: { providers: [provider] } }));
	requireSuccess(await app.call('POST', '/api/v1/webhooks', { url: `${echo.origin}/echo`, events: ['*'] }));
	const { assistant, deployment } = await createApiFixture(app, {
		model: 'scripted/any',
		deployment: {
			features: { jwt_required: true, handoff: true },
			jwt: { algorithm: 'HS256', secret: SECRET },
			visitor_budget: { amount_micros: BUDGET, period: 'month' },
		},
	});
	const config = {
		...{ url: `${echo.origin}/find`, method: 'POST', body: { item: '{item}' } },
		parameters: { type: 'object', properties: { item: { type: 'string' } } },
	};
	const tool_id = await createResource(app, '/api/v1/tools', { name: 'find', type: 'api', config });
	requireSuccess(await app.call('POST', `/api/v1/assistants/${assistant}/tools`, { tool_id }));
	const owned = resources.move();
	return {
		app,
		warnings,
		converse: (word) => converse(app, deployment, word),
		async beRefused(word) {
			const refused = { content: 'Hello?', conversation_id: 'conv_unknown' };
			const key = { 'idempotency-key': word };
			assert.equal((await visitorOf(app, deployment, word)('/messages', refused, key)).status, 404);
		},
		[Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
	};
}

/** What sends requests of the end user `id-<word>`. */
function visitorOf(app: TestApp, deployment_id: string, word: string) {
	const exp = Math.floor(Date.now() / 1000) + 3_600;
	const token = signWithSecret(SECRET, { sub: `id-${word}`, exp, name: `Name ${word}`, email: `${word}@mail.example` });
	return (path: string, body: object, headers: Record<string, string> = {}) => {
		const sent = { authorization: `Bearer ${token}`, ...headers };
		return app.callAsVisitor('POST', `/api/v1/widget${path}`, { deployment_id, ...body }, sent);
	};
}

async function converse(app: TestApp, deployment_id: string, word: string): Promise<string> {
	const visit = visitorOf(app, deployment_id, word);
	const key = { 'idempotency-key': `key of ${word} ${newId('request')}` };
	const message = { content: `Where is ${word}? ${'Please. '.repeat(word.length * 9)}`, metadata: { word } };
	const reply = requireSuccess(await visit('/messages', message, key));
	const { conversation_id } = reply;
	const rating = { rating: 'down', comment: `Not what ${word} asked.` };
	requireSuccess(await visit(`/messages/${reply.id}/feedback`, rating));
	// Without a call of a tool it is a question without an answer.
	requireSuccess(await visit('/messages', { content: `Plainly, who is ${word}?`, conversation_id }));
	// A failed reply keeps its rounds.
	const failing = { content: `Fail about ${word}?`, conversation_id };
	assert.equal((await visit('/messages', failing, { 'idempotency-key': `failed ${word}` })).status, 500);
	requireSuccess(await visit(`/conversations/${conversation_id}/request-person`, { email: `${word}@contact.example` }));
	const path = `/api/v1/conversations/${conversation_id}`;
	requireSuccess(await app.call('POST', `${path}/takeover`));
	requireSuccess(await app.call('POST', `${path}/messages`, { content: `A person writes to ${word}.` }, key));
	requireSuccess(await app.call('POST', `${path}/notes`, { content: `Note about ${word}.` }, key));
	const change = { title: `Longer title about ${word}`, metadata: { more: word }, status: 'archived' };
	requireSuccess(await app.call('PATCH', path, change));
	// A refusal is stored, too.
	const refused = { content: word, conversation_id };
	assert.equal((await visit('/messages', refused, { 'idempotency-key': word })).status, 400);
	return conversation_id;
}
