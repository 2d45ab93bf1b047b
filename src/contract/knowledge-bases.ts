import { type Static, Type } from 'typebox';
import { NullableInteger, NullableText, NullableTimestamp, OneOf, Patch, Strict, Timestamp } from './shapes.ts';

const name = Type.String({ minLength: 1, maxLength: 200 });
const description = NullableText({ maxLength: 2000 });
const hybrid = Type.Boolean({
	description: 'Keyword and semantic search together; false: the semantic half alone. Default true.',
});
const semantic_weight = Type.Number({
	minimum: 0,
	maximum: 1,
	description: 'Share of the semantic half. Default 0.5.',
});
const status = OneOf(['ready', 'indexing', 'error']);

export const SearchSettings = Type.Object({ hybrid, semantic_weight });
export type SearchSettings = Static<typeof SearchSettings>;

export const KnowledgeBase = Type.Object({
	id: Type.String(),
	name,
	description,
	search_settings: SearchSettings,
	status,
	document_count: Type.Integer(),
	created_at: Timestamp,
	updated_at: Timestamp,
});
export type KnowledgeBase = Static<typeof KnowledgeBase>;

export const KnowledgeBaseCreate = Strict({
	name,
	description: Type.Optional(description),
	search_settings: Type.Optional(Patch({ hybrid, semantic_weight })),
});
export type KnowledgeBaseCreate = Static<typeof KnowledgeBaseCreate>;

export const KnowledgeBasePatch = Patch({
	name,
	description,
	search_settings: Patch({ hybrid, semantic_weight }),
});
export type KnowledgeBasePatch = Static<typeof KnowledgeBasePatch>;

export const IndexingStatus = Type.Object({
	status,
	documents_total: Type.Integer(),
	documents_indexed: Type.Integer(),
	last_indexed_at: NullableTimestamp,
});
export type IndexingStatus = Static<typeof IndexingStatus>;

export const Document = Type.Object({
	id: Type.String(),
	knowledge_base_id: Type.String(),
	title: Type.String(),
	source_type: OneOf(['file', 'url', 'text']),
	url: NullableText(),
	file_name: NullableText(),
	content_type: NullableText(),
	size_bytes: NullableInteger(),
	status: OneOf(['queued', 'processing', 'indexed', 'error']),
	error: Type.Union([Type.Object({ code: Type.String(), message: Type.String() }), Type.Null()]),
	chunk_count: Type.Integer(),
	page_count: NullableInteger(),
	language: NullableText({ description: 'ISO 639-1.' }),
	created_at: Timestamp,
	updated_at: Timestamp,
	indexed_at: NullableTimestamp,
});
export type Document = Static<typeof Document>;

const title = Type.String({ minLength: 1, maxLength: 500 });

/** A document by JSON: imported from a URL, or given as text. `source_type` tells which. */
export const DocumentCreate = Strict(
	{
		source_type: OneOf(['url', 'text']),
		title: Type.Optional(title),
		url: Type.Optional(
			Type.String({ minLength: 1, maxLength: 2000, description: 'Absolute URL; with source_type `url`.' }),
		),
		content: Type.Optional(
			Type.String({ minLength: 1, maxLength: 900_000, description: 'The text; with source_type `text`.' }),
		),
	},
	{ description: 'URL import or inline text.' },
);
export type DocumentCreate = Static<typeof DocumentCreate>;

/** A document by multipart form: the parts `file` and `title`. */
export const DocumentUpload = Type.Object({
	file: Type.Unsafe<unknown>({ type: 'string', format: 'binary', description: 'PDF, DOCX, HTML, MD or TXT.' }),
	title: Type.Optional(title),
});

export const DocumentTitle = title;

export const Chunk = Type.Object({
	id: Type.String(),
	document_id: Type.String(),
	position: Type.Integer(),
	text: Type.String(),
	heading_path: Type.Array(Type.String()),
	page: NullableInteger(),
});
export type Chunk = Static<typeof Chunk>;

export const SearchRequest = Strict({
	query: Type.String({ minLength: 1, maxLength: 32_000 }),
	top_k: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: 'Default 5.' })),
	min_score: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'Default 0.' })),
	hybrid: Type.Optional(hybrid),
	semantic_weight: Type.Optional(semantic_weight),
});
export type SearchRequest = Static<typeof SearchRequest>;

const score = Type.Number({ minimum: 0, maximum: 1 });

export const SearchResponse = Type.Object({
	data: Type.Array(
		Type.Object({
			document_id: Type.String(),
			title: Type.String(),
			url: NullableText(),
			chunk_id: Type.String(),
			text: Type.String(),
			heading_path: Type.Array(Type.String()),
			page: NullableInteger(),
			score,
			semantic_score: score,
			keyword_score: score,
		}),
	),
});
export type SearchResponse = Static<typeof SearchResponse>;
