import { createHash, randomUUID } from 'node:crypto';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { Agent } from 'undici';
import { isAllowed } from './allowlist.ts';
import { chatCompletion } from './chat-completions.ts';
import { BaselineDatabase, type DeploymentRow } from './database.ts';

/** Settings of the conventional server. */
export interface BaselineOptions {
	/** The database's file. */
	file: string;
	/** The only API key. */
	key: string;
	/** Base URL of the models, with `/v1`; null if no message is sent. */
	modelUrl: string | null;
}

interface MessageBody {
	deployment_id: string;
	conversation_id?: string;
	content: string;
	stream?: boolean;
}

const text = { type: 'string' };
const ASSISTANT = {
	type: 'object',
	required: ['name', 'model'],
	properties: { name: text, model: text, master_prompt: text },
};
const DEPLOYMENT = {
	type: 'object',
	required: ['assistant_id'],
	properties: {
		assistant_id: text,
		allowed_domains: { type: 'array', items: text },
		appearance: { type: 'object' },
		rate_limit: { type: 'object' },
	},
};
const MESSAGE = {
	type: 'object',
	required: ['deployment_id', 'content'],
	properties: {
		deployment_id: text,
		conversation_id: text,
		content: { type: 'string', minLength: 1, maxLength: 32_000 },
		stream: { type: 'boolean' },
	},
};
const CONFIG_QUERY = { type: 'object', required: ['deployment_id'], properties: { deployment_id: text } };
const CONNECTION_LIMIT = 10_000;

/**
 * A conventional server for comparison, as a good developer would build it in an afternoon: Fastify, better-sqlite3 on the main
 * thread, undici. It has the parts of Parley's API that the comparison needs, with the same paths, bodies and event names, and takes
 * no shortcut that Parley does not take: a message is on disk before it is visible.
 */
export function createBaseline({ file, key, modelUrl }: BaselineOptions): FastifyInstance {
	const app = Fastify();
	const db = new BaselineDatabase(file);
	const agent = new Agent({ connections: CONNECTION_LIMIT });
	db.addKey(hashOf(key));
	app.addHook('onClose', async () => {
		await agent.destroy();
		db[Symbol.dispose]();
	});

	addConfigRoute(app, db);
	app.register((api, _, ready) => {
		api.addHook('onRequest', async (request, reply) => {
			const given = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
			if (given === undefined || !db.hasKey(hashOf(given))) return sendError(reply, 401, 'unauthorized');
		});
		addAssistantRoute(api, db);
		addDeploymentRoute(api, db);
		addMessageRoute(api, db, agent, modelUrl);
		ready();
	});
	return app;
}

function addConfigRoute(app: FastifyInstance, db: BaselineDatabase): void {
	app.get<{ Querystring: { deployment_id: string } }>(
		'/api/v1/widget/config',
		{ schema: { querystring: CONFIG_QUERY } },
		async (request, reply) => {
			const deployment = db.deployment(request.query.deployment_id);
			if (deployment === undefined) return sendError(reply, 404, 'not_found');
			const { origin } = request.headers;
			if (!isAllowed(origin, JSON.parse(deployment.allowed_domains)))
				return sendError(reply, 403, 'domain_not_allowed');
			if (origin !== undefined) reply.header('access-control-allow-origin', origin);
			reply.header('vary', 'Origin').header('access-control-expose-headers', 'Retry-After, ETag, X-Request-Id');
			reply.header('cache-control', 'public, max-age=60, stale-while-revalidate=300');
			return {
				deployment_id: deployment.id,
				assistant_id: deployment.assistant_id,
				appearance: JSON.parse(deployment.appearance),
				features: JSON.parse(deployment.features),
				rate_limit: JSON.parse(deployment.rate_limit),
			};
		},
	);
}

function addAssistantRoute(api: FastifyInstance, db: BaselineDatabase): void {
	api.post<{ Body: { name: string; model: string; master_prompt?: string } }>(
		'/api/v1/assistants',
		{ schema: { body: ASSISTANT } },
		async ({ body }, reply) => {
			const assistant = { id: newId('asst'), master_prompt: '', ...body, created_at: Date.now() };
			db.addAssistant(assistant);
			return reply.code(201).send(assistant);
		},
	);
}

function addDeploymentRoute(api: FastifyInstance, db: BaselineDatabase): void {
	api.post<{ Body: { assistant_id: string; allowed_domains?: string[]; appearance?: object; rate_limit?: object } }>(
		'/api/v1/deployments',
		{ schema: { body: DEPLOYMENT } },
		async ({ body }, reply) => {
			const deployment = {
				id: newId('dep'),
				assistant_id: body.assistant_id,
				allowed_domains: body.allowed_domains ?? [],
				appearance: {
					primary_color: '#4f46e5',
					theme: 'light',
					position: 'bottom-right',
					greeting: 'Hi! How can I help you?',
					suggested_questions: [],
					assistant_name: null,
					status_text: null,
					logo_url: null,
					privacy_url: null,
					disclosure_text: null,
					font_family: 'system',
					radius: 'medium',
					...body.appearance,
				},
				features: { streaming: true, rich_content: true, jwt_required: false, ai_disclosure: true, handoff: false },
				rate_limit: { messages_per_minute: 20, ...body.rate_limit },
				created_at: Date.now(),
			};
			const { allowed_domains, appearance, features, rate_limit } = deployment;
			db.addDeployment({
				...deployment,
				allowed_domains: JSON.stringify(allowed_domains),
				appearance: JSON.stringify(appearance),
				features: JSON.stringify(features),
				rate_limit: JSON.stringify(rate_limit),
			});
			return reply.code(201).send(deployment);
		},
	);
}

function addMessageRoute(api: FastifyInstance, db: BaselineDatabase, agent: Agent, modelUrl: string | null): void {
	api.post<{ Body: MessageBody }>('/api/v1/messages', { schema: { body: MESSAGE } }, async ({ body }, reply) => {
		const deployment = db.deployment(body.deployment_id);
		if (deployment === undefined || modelUrl === null) return sendError(reply, 404, 'not_found');
		const known = body.conversation_id;
		if (known !== undefined && !db.hasConversation(known, deployment.id)) return sendError(reply, 404, 'not_found');
		const conversation_id = known ?? newId('conv');
		const created_at = Date.now();
		const message = { id: newId('msg'), conversation_id, role: 'user', content: body.content, created_at };
		db.addMessage(message, known ? null : { id: conversation_id, deployment_id: deployment.id, created_at });

		const pieces = streamReply(deployment, conversation_id, modelUrl);
		if (!body.stream) {
			let content = '';
			for await (const piece of pieces) content += piece;
			return { conversation_id, message: storeReply(conversation_id, content) };
		}
		reply.hijack();
		const { raw } = reply;
		raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
		const send = (event: string, data: object) => raw.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
		send('message.created', message);
		const reply_id = newId('msg');
		let content = '';
		try {
			for await (const piece of pieces) {
				content += piece;
				send('message.delta', { message_id: reply_id, delta: piece });
			}
			send('message.completed', storeReply(conversation_id, content, reply_id));
		} catch (error) {
			send('message.failed', { message: error instanceof Error ? error.message : String(error) });
		}
		raw.end();
	});

	function streamReply(deployment: DeploymentRow, conversationId: string, url: string) {
		const { model, master_prompt } = deployment;
		const prompt = [{ role: 'system' as const, content: master_prompt }, ...db.messages(conversationId)];
		return chatCompletion(agent, url, model, prompt);
	}

	/** Stores the reply. The result may be sent to the client. */
	function storeReply(conversation_id: string, content: string, id = newId('msg')) {
		const message = { id, conversation_id, role: 'assistant', content, created_at: Date.now() };
		db.addMessage(message, null);
		return message;
	}
}

function sendError(reply: FastifyReply, status: number, code: string) {
	return reply.code(status).send({ error: { code, message: code } });
}

function newId(kind: string): string {
	return `${kind}_${randomUUID()}`;
}

function hashOf(key: string): string {
	return createHash('sha256').update(key).digest('hex');
}
