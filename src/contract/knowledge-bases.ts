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
	Patch,
	Strict,
	Timestamp,
} from './shapes.ts';
import { NullableMultilineText, SingleLineText } from './text-shapes.ts';

const name = SingleLineText({ maxLength: 200, examples: ['Hollowbrook Kettles'] });
const description = NullableMultilineText({ maxLength: 2000 });
const hybrid = Type.Boolean({
	description: 'Keyword and semantic search together; false: the semantic half alone. Default true.',
});
const semantic_weight = Type.Number({
	minimum: 0,
	maximum: 1,
	description:
		'Share of the semantic half: the weight in use. By default the knowledge base chooses it when it trains (`semantic_weight_source`: `auto`); before that it is 0.5.',
});
const semantic_weight_source = OneOf(['auto', 'set'], {
	description:
		'`auto`: the knowledge base chooses the weight itself when it trains. `set`: a request has set it. Read-only: requests may contain it, as it was read.',
});
const status = OneOf(['ready', 'indexing', 'error']);
const documents_failed = Type.Integer({
	minimum: 0,
	description:
		'Number of documents in `error`. While it is above 0 and no document is being processed, the status is `error`.',
	examples: [0],
});
const searchable = Type.Boolean({
	description:
		'Whether searches and replies find its documents. True also while the status is `indexing` or `error`: indexed documents are found.',
	examples: [true],
});

const SearchSettings = Type.Object({ hybrid, semantic_weight, semantic_weight_source });

const SearchSettingsPatch = Patch({
	hybrid,
	semantic_weight: Type.Unsafe<number | null>({
		type: ['number', 'null'],
		minimum: 0,
		maximum: 1,
		description:
			'Share of the semantic half. A number sets it; null returns it to the choice of the knowledge base. With the `semantic_weight_source` of a response, a weight that the knowledge base may have chosen changes nothing; leave the source out to set it.',
	}),
	semantic_weight_source,
});
export type SearchSettingsPatch = Static<typeof SearchSettingsPatch>;

export const KnowledgeBase = Type.Object({
	id: Type.String(),
	name,
	description,
	search_settings: SearchSettings,
	status,
	document_count: Type.Integer(),
	documents_failed,
	searchable,
	created_at: Timestamp,
	updated_at: Timestamp,
});
export type KnowledgeBase = Static<typeof KnowledgeBase>;

export const KnowledgeBaseCreate = Strict({
	name,
	description: Type.Optional(description),
	search_settings: Type.Optional(SearchSettingsPatch),
});
export type KnowledgeBaseCreate = Static<typeof KnowledgeBaseCreate>;

export const KnowledgeBasePatch = Patch({
	name,
	description,
	search_settings: SearchSettingsPatch,
});
export type KnowledgeBasePatch = Static<typeof KnowledgeBasePatch>;

export const IndexingStatus = Type.Object({
	status,
	documents_total: Type.Integer(),
	documents_indexed: Type.Integer(),
	documents_failed,
	searchable,
	last_indexed_at: NullableTimestamp,
	trained_at: NullableText({
		format: 'date-time',
		description:
			'When the semantic basis in use was trained, if it covers all documents. Null without a basis, while documents or a reindex are being processed, while a training is due or running, and if a model provider makes the vectors (`embedder`). `ready` means that all documents are searchable; a basis that is trained on them follows some seconds later.',
		examples: ['2026-03-09T14:05:32.000Z'],
	}),
	embedder: NullableText({
		description:
			'The embedder of the searched vectors: `builtin`, or the `provider/name` of an embeddings model. Null if nothing has been indexed.',
		examples: ['builtin'],
	}),
	reindex_required: Type.Boolean({
		description:
			'Whether a reindex is due: the server is configured with another embedder, the provider serves another model under the same name, or documents were added while the embedder of the index was not available. Until the reindex, the index is searched with the embedder that made it, or by keywords only if that embedder is not available.',
		examples: [false],
	}),
	reindex: Type.Union(
		[
			Type.Object({
				documents_done: Type.Integer({ minimum: 0, description: 'Documents in the new index.' }),
				documents_total: Type.Integer({ minimum: 0, description: 'Documents that it will have, at most.' }),
			}),
			Type.Null(),
		],
		{ description: 'How far the reindex is that waits or runs. Null without one.', examples: [null] },
	),
	problem: Type.Union([Type.Object({ code: Type.String(), message: Type.String() }), Type.Null()], {
		description:
			'What indexing waits for, such as a model provider that does not respond (it is retried at least every 15 minutes and continues where it stopped), why the last reindex was given up, or why the last training failed (it is repeated after a delay that grows to 12 hours). Null without a problem.',
		examples: [null],
	}),
});
export type IndexingStatus = Static<typeof IndexingStatus>;

const SearchText = (examples: string[]) => Type.String({ minLength: 1, maxLength: 32_000, examples });

/**
 * UTF-16 units of all messages of a search together. Their longest form in JSON, with an escape of six bytes for each, fits into
 * the 1 MiB of a body.
 */
export const MAX_DIALOGUE_CHARS = 160_000;

export const SearchRequest = Strict({
	query: Type.Optional(SearchText(['How long is the warranty?'])),
	messages: Type.Optional(
		Type.Array(Strict({ role: OneOf(['user', 'assistant']), content: SearchText(['And for the battery?']) }), {
			minItems: 1,
			maxItems: 30,
			description:
				'A dialogue, oldest message first, in place of `query`, with 160,000 characters (UTF-16) at most in all messages together. It finds what a reply to the last message finds, which must be of the user: earlier messages count if the last one depends on them ("And for the battery?"). Exactly one of `query` and `messages` is required.',
		}),
	),
	top_k: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: 'Default 5.' })),
	min_score: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'Default 0.' })),
	hybrid: Type.Optional(hybrid),
	semantic_weight: Type.Optional(semantic_weight),
	for_reply: Type.Optional(
		Type.Boolean({
			description:
				'The passages that the prompt of a reply gets for the query: a passage that repeats another one gives way to the next. Default false.',
		}),
	),
});
export type SearchRequest = Static<typeof SearchRequest>;

const score = Type.Number({ minimum: 0, maximum: 1, examples: [0.74] });

export const SearchResponse = Type.Object({
	data: Type.Array(
		Type.Object({
			document_id: Type.String(),
			title: Type.String({ examples: ['Warranty and repair'] }),
			url: NullableText(),
			chunk_id: Type.String({ examples: ['doc_06gzhmza00001mjww6bbdevcx5ss2c8f.4'] }),
			text: Type.String({ examples: ['The warranty lasts three years from the day of purchase.'] }),
			heading_path: Type.Array(Type.String(), { examples: [['Warranty', 'How long it lasts']] }),
			page: NullableInteger(),
			score,
			semantic_score: score,
			keyword_score: score,
		}),
	),
});
export type SearchResponse = Static<typeof SearchResponse>;

/** Knowledge bases. */
export const knowledgeBaseOperations = {
	listKnowledgeBases: {
		method: 'GET',
		path: '/api/v1/knowledge-bases',
		summary: 'List knowledge bases',
		tag: 'Knowledge bases',
		access: withKey('knowledge_bases:read'),
		query: PageQuery,
		result: PageOf(KnowledgeBase),
	},
	createKnowledgeBase: {
		versioned: true,
		method: 'POST',
		path: '/api/v1/knowledge-bases',
		summary: 'Create a knowledge base',
		tag: 'Knowledge bases',
		access: withKey('knowledge_bases:write'),
		body: KnowledgeBaseCreate,
		status: 201,
		result: KnowledgeBase,
	},
	getKnowledgeBase: {
		versioned: true,
		method: 'GET',
		path: '/api/v1/knowledge-bases/{id}',
		summary: 'Get a knowledge base',
		tag: 'Knowledge bases',
		access: withKey('knowledge_bases:read'),
		result: KnowledgeBase,
	},
	updateKnowledgeBase: {
		versioned: true,
		method: 'PATCH',
		path: '/api/v1/knowledge-bases/{id}',
		summary: 'Change a knowledge base',
		tag: 'Knowledge bases',
		access: withKey('knowledge_bases:write'),
		body: KnowledgeBasePatch,
		result: KnowledgeBase,
	},
	deleteKnowledgeBase: {
		method: 'DELETE',
		path: '/api/v1/knowledge-bases/{id}',
		summary: 'Delete a knowledge base with its documents',
		tag: 'Knowledge bases',
		access: withKey('knowledge_bases:write'),
		result: Deleted,
	},
	getKnowledgeBaseStatus: {
		method: 'GET',
		path: '/api/v1/knowledge-bases/{id}/status',
		summary: 'Get the indexing status',
		tag: 'Knowledge bases',
		access: withKey('knowledge_bases:read'),
		result: IndexingStatus,
	},
	reindexKnowledgeBase: {
		method: 'POST',
		path: '/api/v1/knowledge-bases/{id}/reindex',
		summary: 'Index all documents again from their stored bytes',
		tag: 'Knowledge bases',
		access: withKey('knowledge_bases:write'),
		result: IndexingStatus,
	},
	stopReindex: {
		method: 'POST',
		path: '/api/v1/knowledge-bases/{id}/reindex/stop',
		summary: 'Stop a reindex; the former index continues to serve',
		tag: 'Knowledge bases',
		access: withKey('knowledge_bases:write'),
		result: IndexingStatus,
	},
	searchKnowledgeBase: {
		reads: true,
		method: 'POST',
		path: '/api/v1/knowledge-bases/{id}/search',
		summary: 'Search a knowledge base',
		tag: 'Knowledge bases',
		access: withKey('knowledge_bases:read'),
		body: SearchRequest,
		examples: {
			'A question': { query: 'How long is the warranty?', top_k: 5 },
			'A dialogue': {
				messages: [
					{ role: 'user', content: 'How long is the warranty of the kettle?' },
					{ role: 'assistant', content: 'Three years from the day of purchase.' },
					{ role: 'user', content: 'And for the battery?' },
				],
			},
		},
		result: SearchResponse,
	},
} as const satisfies OperationTable;
