import { api, resultOf } from '../../api/client.ts';

interface Page {
	data: { id: string }[];
	next_cursor?: string | null;
}

type Load = (query: { limit: number; order: 'asc'; cursor?: string }) => Promise<Page>;

const PAGE_SIZE = 100;

/**
 * The settings of the workspace as JSON Lines, `{"type", "resource"}` each: what the lists of the API show, the oldest first.
 * Secrets are not in them, nor are the contents of documents.
 */
export async function* exportLines(): AsyncGenerator<string> {
	yield lineOf('workspace', await resultOf(api.GET('/api/v1/workspace')));
	yield* linesOf('assistant', (query) => resultOf(api.GET('/api/v1/assistants', { params: { query } })));
	const bases: string[] = [];
	for await (const base of resourcesOf((query) =>
		resultOf(api.GET('/api/v1/knowledge-bases', { params: { query } })),
	)) {
		bases.push(base.id);
		yield lineOf('knowledge_base', base);
	}
	for (const id of bases) {
		yield* linesOf('document', (query) =>
			resultOf(api.GET('/api/v1/knowledge-bases/{id}/documents', { params: { path: { id }, query } })),
		);
	}
	yield* linesOf('tool', (query) => resultOf(api.GET('/api/v1/tools', { params: { query } })));
	yield* linesOf('deployment', (query) => resultOf(api.GET('/api/v1/deployments', { params: { query } })));
	yield* linesOf('webhook', (query) => resultOf(api.GET('/api/v1/webhooks', { params: { query } })));
}

async function* linesOf(type: string, load: Load): AsyncGenerator<string> {
	for await (const resource of resourcesOf(load)) yield lineOf(type, resource);
}

async function* resourcesOf(load: Load): AsyncGenerator<{ id: string }> {
	let cursor: string | null | undefined;
	do {
		const page = await load({ limit: PAGE_SIZE, order: 'asc', ...(cursor && { cursor }) });
		yield* page.data;
		cursor = page.next_cursor;
	} while (cursor);
}

function lineOf(type: string, resource: object): string {
	return `${JSON.stringify({ type, resource })}\n`;
}
