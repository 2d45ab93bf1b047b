import { type Static, Type } from 'typebox';
import { type OperationTable, withKey } from './operation.ts';
import { WEB_URL_PATTERN } from './patterns.ts';
import {
	Deleted,
	NullableInteger,
	NullableText,
	OneOf,
	PageOf,
	PageQuery,
	PageQueryWith,
	Patch,
	Strict,
	Timestamp,
} from './shapes.ts';
import { SingleLineText } from './text-shapes.ts';

const type = OneOf(['website', 'sitemap', 'url'], {
	description:
		'`website`: the page at `url` and the pages that its links and the sitemaps of its robots.txt lead to, on the same host. `sitemap`: the pages that the sitemap (or the index of sitemaps) at `url` lists, on the same host. `url`: one page or file.',
});
const patterns = (description: string) =>
	Type.Array(SingleLineText({ maxLength: 500 }), { maxItems: 50, description, examples: [['/help/*']] });
const include = patterns(
	'Only pages that match one of these are fetched; empty: all. A pattern that begins with `/` is compared with the path and query of an address, any other with the whole address. `*` stands for any characters. The page at `url` is always fetched for its links.',
);
const exclude = patterns('Pages that match one of these are not fetched.');
const max_pages = Type.Integer({
	minimum: 1,
	maximum: 5000,
	description: 'Addresses that the source knows at most, those that failed or redirect included. Default 500.',
	examples: [500],
});
const depth = Type.Integer({
	minimum: 0,
	maximum: 20,
	description: 'Links from the start to the farthest page that is fetched. Default 5.',
	examples: [5],
});
const refresh_hours = NullableInteger({
	minimum: 1,
	maximum: 720,
	description: 'Hours from the end of a run to the next. Null: a run begins only on request. Default 24.',
});
const problem = (description: string) =>
	Type.Union([Type.Object({ code: Type.String(), message: Type.String() }), Type.Null()], {
		description,
		examples: [null],
	});
const count = (description: string) => Type.Integer({ minimum: 0, description, examples: [0] });

const SourceProgress = Type.Object(
	{
		found: count('Pages that the run has found.'),
		fetched: count('Pages of them that were requested.'),
		indexed: count('Documents of the source that searches find now.'),
		unchanged: count('Requested pages with the content of the last run. They were not processed again.'),
		failed: count('Requested pages without a usable answer. Their last content stays.'),
		gone: count('Pages that are not there any more. A page is removed when two runs in a row miss it.'),
	},
	{ description: 'Of the current run, or of the last.' },
);

export const Source = Type.Object({
	id: Type.String(),
	knowledge_base_id: Type.String(),
	type,
	url: Type.String({ examples: ['https://shop.example/help/'] }),
	include,
	exclude,
	max_pages,
	depth,
	refresh_hours,
	status: OneOf(['queued', 'running', 'idle', 'paused', 'error', 'deleting'], {
		description:
			'`queued`: a run is due. `idle`: waits for the next run. `error`: the last run ended early, `error` says why; the next run tries again. `deleting`: its documents are being removed.',
	}),
	error: problem('Why the last run ended early.'),
	progress: SourceProgress,
	started_at: NullableText({ format: 'date-time', description: 'When the current run, or the last, began.' }),
	finished_at: NullableText({ format: 'date-time', description: 'When the last run ended.' }),
	next_run_at: NullableText({
		format: 'date-time',
		description:
			'When the next run begins. Null while a run is due, in progress or paused, and without `refresh_hours`.',
	}),
	created_at: Timestamp,
	updated_at: Timestamp,
});
export type Source = Static<typeof Source>;

const url = Type.String({
	minLength: 1,
	maxLength: 2000,
	pattern: WEB_URL_PATTERN,
	examples: ['https://shop.example/help/'],
});

export const SourceCreate = Strict({
	type,
	url,
	include: Type.Optional(include),
	exclude: Type.Optional(exclude),
	max_pages: Type.Optional(max_pages),
	depth: Type.Optional(depth),
	refresh_hours: Type.Optional(refresh_hours),
});
export type SourceCreate = Static<typeof SourceCreate>;

export const SourcePatch = Patch({ include, exclude, max_pages, depth, refresh_hours });
export type SourcePatch = Static<typeof SourcePatch>;

const PAGE_STATUSES = ['queued', 'fetched', 'redirected', 'duplicate', 'blocked', 'failed', 'gone', 'removed'] as const;

const pageStatus = OneOf(PAGE_STATUSES, {
	description:
		'`queued`: not requested yet. `fetched`: it has a document. `redirected`, `duplicate`: the page at `target_url` counts in its place. `blocked`: the site asks not to fetch or index it. `failed`: no usable answer. `gone`: not there any more, removed by the next run that misses it too. `removed`: its document was deleted by a request; runs only follow its links.',
});

export const SourcePage = Type.Object({
	id: Type.String(),
	source_id: Type.String(),
	url: Type.String({ examples: ['https://shop.example/help/returns'] }),
	depth: Type.Integer({ minimum: 0, description: 'Links from the start.', examples: [1] }),
	status: pageStatus,
	error: problem('Why it has no document, or why its document is not up to date.'),
	http_status: NullableInteger({ description: 'Of the last response.' }),
	target_url: NullableText({ description: 'The page that counts in its place.' }),
	document_id: NullableText({ description: 'Its document.' }),
	fetched_at: NullableText({
		format: 'date-time',
		description: 'When it last gave an answer: its content, that it is unchanged, gone, or not for crawlers.',
	}),
	changed_at: NullableText({ format: 'date-time', description: 'When its content last differed from the run before.' }),
	created_at: Timestamp,
});
export type SourcePage = Static<typeof SourcePage>;

const SourcePageListQuery = PageQueryWith({
	status: Type.Optional(OneOf(PAGE_STATUSES, { description: 'Only pages with this status.' })),
});

/** Sources of a knowledge base. */
export const sourceOperations = {
	listSources: {
		method: 'GET',
		path: '/api/v1/knowledge-bases/{id}/sources',
		summary: 'List sources',
		tag: 'Sources',
		access: withKey('knowledge_bases:read'),
		query: PageQuery,
		result: PageOf(Source),
	},
	createSource: {
		versioned: true,
		method: 'POST',
		path: '/api/v1/knowledge-bases/{id}/sources',
		summary: 'Follow a website, a sitemap or a page',
		description:
			'The first run begins at once. Each page becomes a document of the knowledge base, and follows the changes of the page.',
		tag: 'Sources',
		access: withKey('knowledge_bases:write'),
		body: SourceCreate,
		examples: {
			'A website': {
				type: 'website',
				url: 'https://shop.example/',
				include: ['/help/*'],
				exclude: ['*/print/*'],
				max_pages: 500,
				refresh_hours: 24,
			},
			'A sitemap': { type: 'sitemap', url: 'https://shop.example/sitemap.xml' },
			'A page': { type: 'url', url: 'https://shop.example/opening-hours', refresh_hours: 1 },
		},
		errors: ['url_not_allowed', 'plan_limit_exceeded'],
		status: 201,
		result: Source,
	},
	getSource: {
		versioned: true,
		method: 'GET',
		path: '/api/v1/knowledge-bases/{id}/sources/{source_id}',
		summary: 'Get a source with its progress',
		tag: 'Sources',
		access: withKey('knowledge_bases:read'),
		result: Source,
	},
	updateSource: {
		versioned: true,
		method: 'PATCH',
		path: '/api/v1/knowledge-bases/{id}/sources/{source_id}',
		summary: 'Change a source; the next run uses the change',
		tag: 'Sources',
		access: withKey('knowledge_bases:write'),
		body: SourcePatch,
		result: Source,
	},
	deleteSource: {
		method: 'DELETE',
		path: '/api/v1/knowledge-bases/{id}/sources/{source_id}',
		summary: 'Delete a source with its documents',
		tag: 'Sources',
		access: withKey('knowledge_bases:write'),
		result: Deleted,
	},
	refreshSource: {
		versioned: true,
		method: 'POST',
		path: '/api/v1/knowledge-bases/{id}/sources/{source_id}/refresh',
		summary: 'Begin a run now, also of a paused source',
		tag: 'Sources',
		access: withKey('knowledge_bases:write'),
		result: Source,
	},
	pauseSource: {
		versioned: true,
		method: 'POST',
		path: '/api/v1/knowledge-bases/{id}/sources/{source_id}/pause',
		summary: 'Pause a source; its documents stay',
		tag: 'Sources',
		access: withKey('knowledge_bases:write'),
		result: Source,
	},
	resumeSource: {
		versioned: true,
		method: 'POST',
		path: '/api/v1/knowledge-bases/{id}/sources/{source_id}/resume',
		summary: 'Resume a paused source where it was',
		tag: 'Sources',
		access: withKey('knowledge_bases:write'),
		result: Source,
	},
	listSourcePages: {
		method: 'GET',
		path: '/api/v1/knowledge-bases/{id}/sources/{source_id}/pages',
		summary: "List a source's pages",
		tag: 'Sources',
		access: withKey('knowledge_bases:read'),
		query: SourcePageListQuery,
		result: PageOf(SourcePage),
	},
} as const satisfies OperationTable;
