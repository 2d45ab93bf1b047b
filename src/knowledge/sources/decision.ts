import type { SourcePageRecord, SourceRecord } from '../../store/index.ts';
import type { PageAddress } from './canonical-url.ts';
import type { PageProblem } from './fetch-page.ts';
import { isInScope, isWorthFetching } from './scope.ts';

/** What becomes of the document of a page. */
export type DocumentDecision =
	/** The document stays as it is, if there is one. */
	| 'keep'
	/** The received bytes become the content of its document, or of a new one. */
	| 'store'
	| 'remove'
	/** The page at the target gets it, so that its former content answers until the new content is indexed. */
	| 'hand_over';

/** What follows from a visit. */
export interface PageDecision {
	set: Partial<SourcePageRecord>;
	document: DocumentDecision;
	/** The pages that it leads to. */
	found: Array<PageAddress & { kind: SourcePageRecord['kind']; depth: number }>;
	counts: Partial<Record<'fetched' | 'unchanged' | 'failed' | 'gone', 1>>;
	/** A host that belongs to the source from now on. */
	host: string | null;
	/** Pages in whose place this page counted are visited again. */
	freesDuplicates: boolean;
	/** The run cannot tell which pages are gone. */
	isIncomplete: boolean;
	/** The run ends: without its start it finds nothing. */
	endsRun: PageProblem | null;
	/** Whether the site gave a usable answer. */
	isAnswered: boolean;
}

/** What a decision depends on. */
export interface PageSituation {
	source: SourceRecord;
	page: SourcePageRecord;
	/** The address that was requested. */
	address: string;
	/** Whether its document has this address and the bytes of the last visit that changed it. */
	hasDocument: boolean;
	/** The page that the target of a redirect or the canonical address names, if the source knows it. */
	target: Pick<SourcePageRecord, 'status' | 'target_url'> | undefined;
	/** Another page with the same content and a document. */
	twin: Pick<SourcePageRecord, 'url'> | undefined;
	/** The links of the stored bytes after a failure; null if they are not known. */
	formerLinks: PageAddress[] | null;
	/** Milliseconds since the epoch. */
	now: number;
}

/** The fields of a page without content. */
export const NO_CONTENT = { blob: null, content: null, etag: null, last_modified: null } as const;

/** The decision for a page whose answer is usable and changes nothing. */
export function answered({ page }: Pick<PageSituation, 'page'>, http_status: number | null): PageDecision {
	const status = page.status === 'removed' ? page.status : 'fetched';
	return {
		set: { status, error: null, http_status, target_url: null, misses: 0, due_order: null, attempts: 0 },
		document: 'keep',
		found: [],
		counts: { fetched: 1 },
		host: null,
		freesDuplicates: false,
		isIncomplete: false,
		endsRun: null,
		isAnswered: true,
	};
}

/** Whether the run begins with this page. */
export function isStart({ depth }: SourcePageRecord): boolean {
	return depth === 0;
}

/** The links of a page that belong to its source. */
export function linksFrom({ source, page }: PageSituation, links: readonly PageAddress[]): PageDecision['found'] {
	if (source.type !== 'website' || page.depth >= source.depth) return [];
	return links
		.filter(({ url }) => isInScope(source, url) && isWorthFetching(url))
		.map((address) => ({ ...address, kind: 'page' as const, depth: page.depth + 1 }));
}
