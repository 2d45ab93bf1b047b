import { AppError } from '../base/index.ts';
import {
	bodyValidator,
	type Document,
	type DocumentCreate,
	DocumentFormTitle,
	type Operations,
} from '../contract/index.ts';
import { type Documents, findDocuments, presentDocument } from '../knowledge/index.ts';
import type { Network } from '../net/index.ts';
import { sniffFormat, unsupportedFileMessage } from '../parsing/index.ts';
import type { DocumentRecord, IncomingBlob, KnowledgeBaseRecord, Store } from '../store/index.ts';
import {
	type Call,
	type Handler,
	type HandlerResult,
	type RawResponse,
	SelfIdempotentHandler,
	type VersionedResult,
	withVersion,
} from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';
import { contentResponse } from './document-content.ts';
import { fingerprintOf } from './idempotent-call.ts';
import { findKnowledgeBase } from './knowledge-bases.ts';

type DocumentOperation =
	| 'listDocuments'
	| 'addDocument'
	| 'getDocument'
	| 'deleteDocument'
	| 'listDocumentChunks'
	| 'getDocumentContent'
	| 'retryDocument';

export interface DocumentsOptions {
	store: Store;
	documents: Documents;
	network: Pick<Network, 'checkUrl'>;
	cursors: Cursors;
	maxUploadBytes: number;
}

type AddDocumentResult = HandlerResult<Operations['addDocument']> | RawResponse;

const MAX_FIELD_BYTES = 10_000;
/** What a form has beside its file at most: the title, names and boundaries. */
const MAX_OTHER_BYTES = 256 * 1024;
const checkTitle = bodyValidator(DocumentFormTitle);

/** Documents of a knowledge base: upload, import, read, remove, retry. */
export function documentHandlers({ store, documents, network, cursors, maxUploadBytes }: DocumentsOptions): {
	[K in DocumentOperation]: Handler<Operations[K]>;
} {
	const find = async (workspaceId: string, params: { id: string; doc_id: string }) => {
		const knowledgeBase = await findKnowledgeBase(store, workspaceId, params.id);
		const document = await store.get('documents', params.doc_id);
		if (document?.knowledge_base_id !== knowledgeBase.id) {
			throw new AppError('not_found', 'The document does not exist.');
		}
		return { knowledgeBase, document };
	};

	const upload = async (call: Call<Operations['addDocument']>): Promise<AddDocumentResult> => {
		const files: Array<{ blob: IncomingBlob; file_name: string | null; content_type: string }> = [];
		try {
			const fields = await call.request.multipart({
				maxFileBytes: maxUploadBytes,
				maxFieldBytes: MAX_FIELD_BYTES,
				maxBodyBytes: maxUploadBytes + MAX_OTHER_BYTES,
				async onFile({ name, fileName, contentType, pieces }) {
					if (name !== 'file') throw invalidFieldError(`/${name}`, 'is not a known part: send `file` and `title`');
					if (files.length > 0) throw invalidFieldError('/file', 'must be given once');
					documents.expectOne();
					files.push({
						blob: await store.blobs.receive(pieces),
						file_name: fileName,
						content_type: contentType,
					});
				},
			});
			const [file] = files;
			if (!file) throw invalidFieldError('/file', 'is required');
			const title = titleOf(fields);
			if (file.blob.size === 0) throw new AppError('no_text', 'The file is empty. Upload a file with text in it.');
			const { blob, ...source } = file;
			if (!sniffFormat(blob.head, file.file_name, file.content_type)) {
				throw new AppError('unsupported_file_type', unsupportedFileMessage(blob.head, file.file_name));
			}
			const document = { source_type: 'file' as const, title, ...source };
			return await call.runIdempotently(
				() => fingerprintOf([blob.hash, document]),
				async () => {
					const knowledgeBase = await findKnowledgeBase(store, call.caller.workspaceId, call.params.id);
					return call.commit(documents.addBlob(knowledgeBase, document, blob), presentVersioned);
				},
			);
		} finally {
			for (const { blob } of files) await blob.discard();
		}
	};

	const addText = async (
		{ commit }: Call<Operations['addDocument']>,
		knowledgeBase: KnowledgeBaseRecord,
		content: string,
		title: string | undefined,
	): Promise<AddDocumentResult> => {
		const blob = await store.blobs.receive(
			(async function* () {
				yield Buffer.from(stripControlCharacters(content));
			})(),
		);
		try {
			const content_type = 'text/plain; charset=utf-8';
			const document = { source_type: 'text', title, content_type } as const;
			return await commit(documents.addBlob(knowledgeBase, document, blob), presentVersioned);
		} finally {
			await blob.discard();
		}
	};

	const addJson = async (
		call: Call<Operations['addDocument']>,
		{ source_type, title, url, content }: DocumentCreate,
	): Promise<AddDocumentResult> => {
		const knowledgeBase = await findKnowledgeBase(store, call.caller.workspaceId, call.params.id);
		if (source_type === 'text') {
			if (content === undefined) throw invalidFieldError('/content', 'is required with source_type text');
			if (url !== undefined) throw invalidFieldError('/url', 'does not go with source_type text');
			return addText(call, knowledgeBase, content, title);
		}
		if (url === undefined) throw invalidFieldError('/url', 'is required with source_type url');
		if (content !== undefined) throw invalidFieldError('/content', 'does not go with source_type url');
		const target = network.checkUrl(url);
		const added = documents.addUrl(knowledgeBase, { source_type, title, url: target.href });
		return call.commit(added, presentVersioned);
	};

	return {
		async listDocuments({ caller, params, query }) {
			const knowledgeBase = await findKnowledgeBase(store, caller.workspaceId, params.id);
			const { status, name, ...pageQuery } = query;
			const list = `documents ${knowledgeBase.id} ${status ?? ''} ${name ?? ''}`;
			const page = cursors.read(list, pageQuery);
			const filter = { knowledgeBaseId: knowledgeBase.id, status, name };
			const records = await findDocuments(store, { ...filter, ...page, limit: page.limit + 1 });
			return cursors.page(list, page, records, byCreation, presentDocument);
		},

		addDocument: new SelfIdempotentHandler((call) => {
			const { body } = call;
			if (body === undefined) return upload(call);
			return call.runIdempotently(
				() => fingerprintOf(body),
				() => addJson(call, body),
			);
		}),

		async getDocument({ caller, params }) {
			const { document } = await find(caller.workspaceId, params);
			return presentVersioned(document);
		},

		async deleteDocument({ caller, params, ifMatchVersions, commit }) {
			const { knowledgeBase, document } = await find(caller.workspaceId, params);
			const removal = documents.remove(knowledgeBase.id, document.id, ifMatchVersions);
			return commit(removal, ({ id }) => ({ id, deleted: true as const }));
		},

		async listDocumentChunks({ caller, params, query }) {
			const { knowledgeBase, document } = await find(caller.workspaceId, params);
			const list = `chunks ${document.id}`;
			const page = cursors.read(list, query, 'asc');
			const chunks = await store.searchIndex.servingChunks(
				knowledgeBase.id,
				document.id,
				page.after?.at ?? -1,
				page.limit + 1,
			);
			return cursors.page(
				list,
				page,
				chunks,
				({ position }) => ({ at: position, id: document.id }),
				({ document_id, position, text, heading_path, page: pageNumber }) => ({
					id: `${document_id}.${position}`,
					document_id,
					position,
					text,
					heading_path,
					page: pageNumber,
				}),
			);
		},

		async getDocumentContent({ caller, params }) {
			const { document } = await find(caller.workspaceId, params);
			const bytes = document.blob === null ? undefined : await store.blobs.read(document.blob);
			if (bytes === undefined) {
				throw new AppError('not_found', 'The document has no content yet: it was not fetched from its URL.');
			}
			return contentResponse(document, bytes);
		},

		async retryDocument({ caller, params, commit }) {
			const { knowledgeBase, document } = await find(caller.workspaceId, params);
			return commit(documents.retry(knowledgeBase.id, document.id), presentVersioned);
		},
	};
}

function presentVersioned(record: DocumentRecord): VersionedResult<Document> {
	return withVersion(presentDocument(record), record);
}

function titleOf(fields: Array<{ name: string; value: string }>): string | undefined {
	let title: string | undefined;
	for (const { name, value } of fields) {
		if (name !== 'title') throw invalidFieldError(`/${name}`, 'is not a known part: send `file` and `title`');
		if (title !== undefined) throw invalidFieldError('/title', 'must be given once');
		title = value;
	}
	if (title === undefined) return undefined;
	try {
		checkTitle(title);
		return title.trim() === '' ? undefined : title;
	} catch (error) {
		if (error instanceof AppError) throw invalidFieldError('/title', error.details?.[0]?.message ?? 'is not valid');
		throw error;
	}
}

/** Parsers drop these characters from files. Here the content is known to be text: a NUL must not make it look binary. */
function stripControlCharacters(text: string): string {
	return text.replace(/(?![\t\n\r])\p{Cc}/gu, '');
}

function invalidFieldError(path: string, message: string): AppError {
	return new AppError('invalid_request', `${path} ${message}.`, { details: [{ path, message }] });
}
