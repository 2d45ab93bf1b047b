import { type Static, Type } from 'typebox';
import { type OperationTable, withKey } from './operation.ts';
import {
	Deleted,
	NullableInteger,
	NullableText,
	NullableTimestamp,
	OneOf,
	PageOf,
	PageQuery,
	PageQueryWith,
	Strict,
	Timestamp,
} from './shapes.ts';
import { OptionalSingleLineText, SingleLineText } from './text-shapes.ts';

const DOCUMENT_STATUSES = ['queued', 'processing', 'indexed', 'error'] as const;

export const Document = Type.Object({
	id: Type.String(),
	knowledge_base_id: Type.String(),
	title: Type.String({ examples: ['Warranty and repair'] }),
	source_type: OneOf(['file', 'url', 'text']),
	url: NullableText(),
	file_name: NullableText(),
	content_type: NullableText(),
	size_bytes: NullableInteger(),
	status: OneOf(DOCUMENT_STATUSES),
	error: Type.Union([Type.Object({ code: Type.String(), message: Type.String() }), Type.Null()], {
		description:
			'Why it could not be indexed; while it is `queued` or `processing`, what it waits for; if it is `indexed`, which part of its text is missing. `no_text`: it has no text that can be searched, for example because it is a scan. `resource_limit`: reading it takes more memory or time than one document may use.',
		examples: [null],
	}),
	chunk_count: Type.Integer(),
	page_count: NullableInteger(),
	language: NullableText({ description: 'ISO 639-1.' }),
	created_at: Timestamp,
	updated_at: Timestamp,
	indexed_at: NullableTimestamp,
	source_id: NullableText({ description: 'The source whose page it is; null for a document that a request added.' }),
});
export type Document = Static<typeof Document>;

const title = SingleLineText({ maxLength: 500, examples: ['Warranty and repair'] });

/** A document in JSON: imported from a URL, or given as text, by `source_type`. */
export const DocumentCreate = Strict(
	{
		source_type: OneOf(['url', 'text']),
		title: Type.Optional(title),
		url: Type.Optional(
			Type.String({ minLength: 1, maxLength: 2000, description: 'Absolute URL; with source_type `url`.' }),
		),
		content: Type.Optional(
			Type.String({
				minLength: 1,
				maxLength: 900_000,
				description:
					'The text; with source_type `text`. Control characters except tabs and line breaks are removed, as in files.',
			}),
		),
	},
	{ description: 'URL import or inline text.' },
);
export type DocumentCreate = Static<typeof DocumentCreate>;

/** The title of an uploaded document. A form sends an empty field for a title that was not filled in. */
export const DocumentFormTitle = OptionalSingleLineText({
	maxLength: 500,
	description: 'Blank or absent: the file’s own title.',
	examples: ['Warranty and repair'],
});

/** A document as a multipart form with the parts `file` and `title`. */
export const DocumentUpload = Strict({
	file: Type.Unsafe<unknown>({
		type: 'string',
		format: 'binary',
		description: 'PDF, DOCX, XLSX, PPTX, ODT, ODS, ODP, RTF, EPUB, EML, HTML, CSV, TSV, MD or TXT.',
	}),
	title: Type.Optional(DocumentFormTitle),
});

export const Chunk = Type.Object({
	id: Type.String({ examples: ['doc_06gzhmza00001mjww6bbdevcx5ss2c8f.4'] }),
	document_id: Type.String(),
	position: Type.Integer(),
	text: Type.String({ examples: ['The warranty lasts three years from the day of purchase.'] }),
	heading_path: Type.Array(Type.String(), { examples: [['Warranty', 'How long it lasts']] }),
	page: NullableInteger(),
});
export type Chunk = Static<typeof Chunk>;

const { limit, cursor } = PageQuery.properties;
/** Chunks are listed in reading order only. */
const ChunkListQuery = Strict({ limit, cursor });

const DocumentListQuery = PageQueryWith({
	status: Type.Optional(OneOf(DOCUMENT_STATUSES, { description: 'Only documents with this status.' })),
	name: Type.Optional(
		Type.String({
			minLength: 1,
			maxLength: 200,
			description: 'Only documents whose title, file name or URL contains this text, in upper or lower case.',
		}),
	),
});

/** Documents of a knowledge base. */
export const documentOperations = {
	listDocuments: {
		method: 'GET',
		path: '/api/v1/knowledge-bases/{id}/documents',
		summary: 'List documents',
		tag: 'Documents',
		access: withKey('knowledge_bases:read'),
		query: DocumentListQuery,
		result: PageOf(Document),
	},
	addDocument: {
		versioned: true,
		method: 'POST',
		path: '/api/v1/knowledge-bases/{id}/documents',
		summary: 'Add a document: a file, a URL, or text',
		tag: 'Documents',
		access: withKey('knowledge_bases:write'),
		body: DocumentCreate,
		multipart: DocumentUpload,
		examples: {
			'A web page': { source_type: 'url', url: 'https://shop.example/returns', title: 'Returns' },
			'A text': { source_type: 'text', title: 'Opening hours', content: 'The shop is open from 10:00 to 16:00.' },
		},
		errors: ['unsupported_file_type', 'unreadable_file', 'no_text', 'url_not_allowed'],
		status: 201,
		result: Document,
	},
	getDocument: {
		versioned: true,
		method: 'GET',
		path: '/api/v1/knowledge-bases/{id}/documents/{doc_id}',
		summary: 'Get a document',
		tag: 'Documents',
		access: withKey('knowledge_bases:read'),
		result: Document,
	},
	deleteDocument: {
		method: 'DELETE',
		path: '/api/v1/knowledge-bases/{id}/documents/{doc_id}',
		summary: 'Remove a document',
		tag: 'Documents',
		access: withKey('knowledge_bases:write'),
		result: Deleted,
	},
	listDocumentChunks: {
		method: 'GET',
		path: '/api/v1/knowledge-bases/{id}/documents/{doc_id}/chunks',
		summary: "List a document's chunks in reading order",
		tag: 'Documents',
		access: withKey('knowledge_bases:read'),
		query: ChunkListQuery,
		result: PageOf(Chunk),
	},
	getDocumentContent: {
		download: 'application/octet-stream',
		method: 'GET',
		path: '/api/v1/knowledge-bases/{id}/documents/{doc_id}/content',
		summary: "Download a document's file",
		description:
			'The bytes as they were uploaded, fetched or given as text, for saving as a file: `Content-Disposition` has its name. The media type is that of a download; the `content_type` of the document has its own. 404 for a URL that was not fetched yet.',
		tag: 'Documents',
		access: withKey('knowledge_bases:read'),
		result: Type.Unsafe<Uint8Array>({
			type: 'string',
			format: 'binary',
			examples: ['The warranty lasts three years from the day of purchase.'],
		}),
	},
	retryDocument: {
		versioned: true,
		method: 'POST',
		path: '/api/v1/knowledge-bases/{id}/documents/{doc_id}/retry',
		summary: 'Process a document again',
		tag: 'Documents',
		access: withKey('knowledge_bases:write'),
		result: Document,
	},
} as const satisfies OperationTable;
