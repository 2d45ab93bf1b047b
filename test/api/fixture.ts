import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { TestApp } from '../support/app.ts';
import { until } from '../support/until.ts';

/** The five sample documents, one for each format. */
export const SAMPLES = [
	'brook-kettle-manual.pdf',
	'shipping-and-returns.docx',
	'visit-and-contact.html',
	'warranty-and-repair.md',
	'privacy.txt',
] as const;

/** The resources of a conversation: a knowledge base, an assistant with it, and a deployment of the assistant. */
export interface ApiFixture {
	knowledgeBase: string;
	assistant: string;
	deployment: string;
}

export interface ApiFixtureOptions {
	model?: string;
	/** Texts to index, each a document. */
	texts?: readonly string[];
	/** Fields of the deployment beside its assistant. */
	deployment?: Record<string, unknown>;
}

/** Creates the resources through the API. Resolves when the texts are indexed. */
export async function createApiFixture(
	app: TestApp,
	{ model, texts = [], deployment }: ApiFixtureOptions = {},
): Promise<ApiFixture> {
	const knowledgeBase = await createResource(app, '/api/v1/knowledge-bases', { name: 'Shop' });
	const assistant = await createResource(app, '/api/v1/assistants', {
		name: 'Guide',
		...(model ? { model } : {}),
		// Tests say what the model returns to each call for a reply.
		rag_settings: { query_rewrite: 'never' },
	});
	const attached = await app.call('POST', `/api/v1/assistants/${assistant}/knowledge-bases`, {
		knowledge_base_id: knowledgeBase,
	});
	assert.equal(attached.status, 200);
	for (const content of texts) {
		await createResource(app, `/api/v1/knowledge-bases/${knowledgeBase}/documents`, { source_type: 'text', content });
	}
	if (texts.length > 0) await untilSettled(app, knowledgeBase);
	return {
		knowledgeBase,
		assistant,
		deployment: await createResource(app, '/api/v1/deployments', {
			assistant_id: assistant,
			allowed_domains: ['shop.example'],
			...deployment,
		}),
	};
}

/** Creates a resource and returns its id. */
export async function createResource(app: Pick<TestApp, 'call'>, path: string, body: unknown): Promise<string> {
	const response = await app.call('POST', path, body);
	assert.equal(response.status, 201, JSON.stringify(response.body));
	return response.body.id;
}

/** Uploads a sample document, or other bytes with a file name. */
export async function upload(
	app: TestApp,
	knowledgeBase: string,
	fileName: string,
	{ bytes, title, type }: { bytes?: Uint8Array | string; title?: string; type?: string } = {},
) {
	const content = bytes ?? (await readFile(new URL(`../../data/samples/${fileName}`, import.meta.url)));
	const form = new FormData();
	if (title !== undefined) form.set('title', title);
	form.set('file', new Blob([content], type === undefined ? {} : { type }), fileName);
	return app.call('POST', `/api/v1/knowledge-bases/${knowledgeBase}/documents`, form);
}

/** The indexing status once no document is being indexed. */
export async function untilSettled(app: Pick<TestApp, 'call'>, knowledgeBase: string) {
	return until('the knowledge base is indexed', async () => {
		const { body } = await app.call('GET', `/api/v1/knowledge-bases/${knowledgeBase}/status`);
		return body.status !== 'indexing' && body;
	});
}

/** The status of a knowledge base once its basis covers all documents and no training is due or runs. */
export async function untilTrained(app: TestApp, knowledgeBase: string) {
	return until('the knowledge base is trained', async () => {
		const { body } = await app.call('GET', `/api/v1/knowledge-bases/${knowledgeBase}/status`);
		return body.trained_at !== null && body;
	});
}

/** A document once it is indexed or has failed. */
export async function untilProcessed(app: TestApp, knowledgeBase: string, document: string) {
	return until('the document is processed', async () => {
		const { body } = await app.call('GET', `/api/v1/knowledge-bases/${knowledgeBase}/documents/${document}`);
		return (body.status === 'indexed' || body.status === 'error') && body;
	});
}

/** The newest conversation of the workspace, once it is the one with this title: a model may be called before its question is stored. */
export async function untilConversation(app: Pick<TestApp, 'call'>, title: string | null) {
	return until('the conversation is stored', async () => {
		const { body } = await app.call('GET', '/api/v1/conversations?limit=1');
		const [newest] = body.data;
		return newest?.title === title && newest;
	});
}
