import { api, type Resource, resultOf } from '../../api/client.ts';
import { invalidate } from '../../api/queries.ts';
import type { Setup } from './queries.ts';

/** Uploads at the same time: more do not arrive sooner on one line. */
const CONCURRENCY = 3;

/** The assistant's knowledge base; made and attached where it has none. @throws ApiError, TypeError */
async function knowledgeBaseOf({ assistant, knowledgeBase }: Setup): Promise<Resource<'KnowledgeBase'>> {
	if (knowledgeBase) return knowledgeBase;
	if (!assistant) throw new Error('Documents need an assistant.');
	const made = await resultOf(api.POST('/api/v1/knowledge-bases', { body: { name: assistant.name } }));
	await api.POST('/api/v1/assistants/{id}/knowledge-bases', {
		params: { path: { id: assistant.id } },
		body: { knowledge_base_id: made.id },
	});
	return made;
}

/** Uploads files. The first failure is thrown when all others have arrived. @throws ApiError, TypeError */
export async function addFiles(setup: Setup, files: readonly File[]): Promise<void> {
	const { id } = await knowledgeBaseOf(setup);
	const waiting = [...files];
	let failure: unknown = null;
	const uploadNext = async () => {
		for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
			await upload(id, file).catch((error: unknown) => (failure ??= error));
			void invalidate('setup');
		}
	};
	await Promise.all(Array.from({ length: CONCURRENCY }, uploadNext));
	await invalidate('setup');
	if (failure !== null) throw failure;
}

async function upload(id: string, file: File): Promise<void> {
	const form = new FormData();
	form.set('file', file, file.name);
	await api.POST('/api/v1/knowledge-bases/{id}/documents', {
		params: { path: { id } },
		// The types describe the JSON body; the server takes a form as well.
		body: form as never,
		bodySerializer: (body) => body as unknown as FormData,
	});
}

/** Adds a page of the web. @throws ApiError, TypeError */
export async function addUrl(setup: Setup, url: string): Promise<void> {
	const { id } = await knowledgeBaseOf(setup);
	const body = { source_type: 'url', url } as const;
	await api.POST('/api/v1/knowledge-bases/{id}/documents', { params: { path: { id } }, body });
	await invalidate('setup');
}
