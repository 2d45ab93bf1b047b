import assert from 'node:assert/strict';
import { newSigner } from '../access/signers.ts';
import { addWorkspace, openStoreDirectly } from '../api/direct-store.ts';
import { type ApiResponse, ORIGIN, type TestApp } from '../support/app.ts';
import { until } from '../support/until.ts';

/** One of the paths on which the server sends requests to a URL of a client, through the API alone. */
export interface EgressPath {
	name: string;
	/** Gives the server a URL. @returns its response, 201 if it accepts the URL */
	give(app: TestApp, url: string): Promise<ApiResponse>;
	/** Makes the server use the URL. @returns the code of an error, or a sentence */
	use(app: TestApp, given: EgressContext): Promise<string>;
}

/** The resource that the server stored for a URL. */
export interface EgressContext {
	id: string;
	// biome-ignore lint/suspicious/noExplicitAny: a resource of any type
	[field: string]: any;
}

const signer = newSigner('RS256');
/** The limit of one workspace. The tables are longer. */
const MOST_ENDPOINTS = 50;

/** Makes another workspace. @returns the headers of its calls */
async function newOwner(app: TestApp): Promise<Record<string, string>> {
	await using store = await openStoreDirectly(app);
	return { authorization: `Bearer ${(await addWorkspace(store)).key}` };
}

let count = 0;

/** All paths. Other resources of a scene are made when they are needed. */
export function egressPaths(): EgressPath[] {
	let knowledgeBase: string | undefined;
	let assistant: string | undefined;
	let endpoints = 0;
	const owners: Promise<Record<string, string>>[] = [];
	const ownerOf = new Map<string, Record<string, string>>();
	const keysOf = async (app: TestApp, deployment: string) => {
		const token = await signer.sign({ sub: 'ann', exp: Math.floor(Date.now() / 1_000) + 3_600 });
		return app.call('GET', `/api/v1/widget/conversations/conv_1/messages?deployment_id=${deployment}`, undefined, {
			authorization: `Bearer ${token}`,
			origin: ORIGIN,
		});
	};
	return [
		{
			name: 'a webhook',
			async give(app, url) {
				const number = Math.floor(endpoints++ / MOST_ENDPOINTS);
				owners[number] ??= newOwner(app);
				const owner = await owners[number];
				const answer = await app.call('POST', '/api/v1/webhooks', { url, events: ['assistant.updated'] }, owner);
				if (answer.status === 201) ownerOf.set(answer.body.id, owner);
				return answer;
			},
			async use(app, { id }) {
				const { status, body } = await app.call('POST', `/api/v1/webhooks/${id}/test`, undefined, ownerOf.get(id));
				assert.equal(status, 200, JSON.stringify(body));
				return body.error ?? 'delivered';
			},
		},
		{
			name: 'a document',
			async give(app, url) {
				knowledgeBase ??= (await app.call('POST', '/api/v1/knowledge-bases', { name: 'Shop' })).body.id as string;
				return app.call('POST', `/api/v1/knowledge-bases/${knowledgeBase}/documents`, { source_type: 'url', url });
			},
			async use(app, { id, knowledge_base_id }) {
				const path = `/api/v1/knowledge-bases/${knowledge_base_id}/documents/${id}`;
				const document = await until('the document is done with', async () => {
					const { body } = await app.call('GET', path);
					return ['indexed', 'error'].includes(body.status) && body;
				});
				return document.error === null ? 'indexed' : `${document.error.code}: ${document.error.message}`;
			},
		},
		{
			name: 'an API tool',
			give: (app, url) =>
				app.call('POST', '/api/v1/tools', {
					name: `api_${count++}`,
					type: 'api',
					config: { method: 'POST', url, parameters: { type: 'object', properties: {} } },
				}),
			async use(app, { id }) {
				const { body } = await app.call('POST', `/api/v1/tools/${id}/test`, { arguments: {} });
				return body.error?.code ?? 'called';
			},
		},
		{
			name: 'an MCP server, for its functions',
			give: (app, url) => app.call('POST', '/api/v1/tools', { name: `mcp_${count++}`, type: 'mcp', config: { url } }),
			async use(app, { id }) {
				const { body } = await app.call('GET', `/api/v1/tools/${id}/functions`);
				return body.error?.code ?? 'listed';
			},
		},
		{
			name: 'an MCP server, for a call',
			give: (app, url) => app.call('POST', '/api/v1/tools', { name: `mcp_${count++}`, type: 'mcp', config: { url } }),
			async use(app, { id }) {
				const { body } = await app.call('POST', `/api/v1/tools/${id}/test`, { function: 'any', arguments: {} });
				return body.error?.code ?? 'called';
			},
		},
		{
			name: 'a key set',
			async give(app, url) {
				assistant ??= (await app.call('POST', '/api/v1/assistants', { name: 'Guide' })).body.id as string;
				return app.call('POST', '/api/v1/deployments', {
					assistant_id: assistant,
					allowed_domains: ['*'],
					features: { jwt_required: true },
					jwt: { algorithm: 'RS256', jwks_url: url },
				});
			},
			async use(app, { id }) {
				const { status, body } = await keysOf(app, id);
				return `${status} ${body.error?.code}`;
			},
		},
	];
}
