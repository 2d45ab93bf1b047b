import type { Citation, IndexingStatus } from '../../src/contract/index.ts';
import { until } from '../../test/support/until.ts';
import { type ApiCaller, call, deploy } from '../load/deploy.ts';
import type { Assistant, DialogueMessage, Reply, SourceDocument } from './assistant.ts';

const INDEXING_TIMEOUT_MS = 300_000;
/** Chunks that a search returns at most. A document may have several of the best. */
const MAX_CHUNKS = 50;

/** An assistant of the built-in model with one knowledge base, used through the public API as a client does. */
export class DocumentAssistant implements Assistant {
	readonly unread: readonly string[];
	readonly #server: ApiCaller;
	readonly #knowledgeBaseId: string;
	readonly #deploymentId: string;
	readonly #keys: ReadonlyMap<string, string>;

	private constructor(
		server: ApiCaller,
		knowledgeBaseId: string,
		deploymentId: string,
		keys: ReadonlyMap<string, string>,
		unread: readonly string[],
	) {
		this.#server = server;
		this.#knowledgeBaseId = knowledgeBaseId;
		this.#deploymentId = deploymentId;
		this.#keys = keys;
		this.unread = unread;
	}

	/** Resolves when the documents are indexed and the semantic basis covers them. */
	static async create(
		server: ApiCaller,
		name: string,
		documents: readonly SourceDocument[],
	): Promise<DocumentAssistant> {
		const { id } = await call(server, 'POST', '/api/v1/knowledge-bases', { name });
		const path = `/api/v1/knowledge-bases/${id}`;
		const keys = new Map<string, string>();
		const unread: string[] = [];
		for (const document of documents) {
			const { status, body } = await server.call('POST', `${path}/documents`, requestBody(document));
			if (status === 201) keys.set(body.id, document.key);
			else unread.push(`${document.key}: ${body.error.code}`);
		}
		await until(`the documents of ${name} are indexed`, () => isIndexed(server, path), INDEXING_TIMEOUT_MS);
		for (const [documentId, key] of keys) {
			const { error } = await call(server, 'GET', `${path}/documents/${documentId}`);
			if (error) unread.push(`${key}: ${error.code}`);
		}
		const assistant = { name, model: 'builtin/extractive' };
		const deploymentId = await deploy(server, assistant, {}, [id]);
		return new DocumentAssistant(server, id, deploymentId, keys, unread);
	}

	async ask(history: readonly string[], question: string): Promise<Reply> {
		let conversation_id: string | undefined;
		for (const content of history) {
			conversation_id = (await this.#send(content, conversation_id)).conversation_id;
		}
		const { content, citations } = await this.#send(question, conversation_id);
		const cited = (citations as Citation[]).map(({ document_id }) => this.#keyOf(document_id));
		return { content, cited: [...new Set(cited)], score: Math.max(0, ...citations.map(({ score }) => score)) };
	}

	async search(question: string, earlier: readonly DialogueMessage[] = []): Promise<string[]> {
		const path = `/api/v1/knowledge-bases/${this.#knowledgeBaseId}/search`;
		const { data }: { data: Array<{ document_id: string }> } = await call(this.#server, 'POST', path, {
			messages: [...earlier, { role: 'user', content: question }],
			top_k: MAX_CHUNKS,
		});
		return [...new Set(data.map(({ document_id }) => this.#keyOf(document_id)))];
	}

	async #send(content: string, conversation_id: string | undefined): Promise<SentReply> {
		const message = { deployment_id: this.#deploymentId, content, conversation_id };
		const reply: SentReply = await call(this.#server, 'POST', '/api/v1/messages', message);
		if (reply.status !== 'completed') throw new Error(`The reply to "${content}" is ${reply.status}.`);
		return reply;
	}

	#keyOf(documentId: string): string {
		const key = this.#keys.get(documentId);
		if (key === undefined) throw new Error(`The document ${documentId} was not added.`);
		return key;
	}
}

interface SentReply {
	conversation_id: string;
	status: string;
	content: string;
	citations: Citation[];
}

function requestBody(document: SourceDocument): object {
	if (!('bytes' in document)) {
		const { title, content } = document;
		return { source_type: 'text', title, content };
	}
	const form = new FormData();
	form.set('file', new Blob([document.bytes]), document.file_name);
	return form;
}

async function isIndexed(server: ApiCaller, path: string): Promise<boolean> {
	const { status, trained_at }: IndexingStatus = await call(server, 'GET', `${path}/status`);
	return status !== 'indexing' && trained_at !== null;
}
