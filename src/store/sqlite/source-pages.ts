import { newId } from '../../base/index.ts';
import type { FoundPage, SourceWrite } from '../commit.ts';
import type { Prepare } from './statements.ts';

/** The sources of knowledge bases and their pages. */
export const SOURCES_SCHEMA = `
	CREATE TABLE sources (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, workspace_id TEXT NOT NULL, knowledge_base_id TEXT NOT NULL,
		type TEXT NOT NULL, url TEXT NOT NULL, include TEXT NOT NULL, exclude TEXT NOT NULL, max_pages INTEGER NOT NULL,
		depth INTEGER NOT NULL, refresh_hours INTEGER, state TEXT NOT NULL, running INTEGER NOT NULL, run INTEGER NOT NULL,
		hosts TEXT NOT NULL, incomplete INTEGER NOT NULL, failures_in_a_row INTEGER NOT NULL, error TEXT,
		found INTEGER NOT NULL, fetched INTEGER NOT NULL, unchanged INTEGER NOT NULL, failed INTEGER NOT NULL,
		gone INTEGER NOT NULL, started_at INTEGER, finished_at INTEGER, next_run_at INTEGER,
		created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
	) STRICT;
	CREATE INDEX sources_by_creation ON sources (knowledge_base_id, created_at, id);

	CREATE TABLE source_pages (
		id TEXT PRIMARY KEY, version INTEGER NOT NULL, source_id TEXT NOT NULL, kind TEXT NOT NULL, url TEXT NOT NULL,
		fetch_url TEXT, depth INTEGER NOT NULL, status TEXT NOT NULL, error TEXT, http_status INTEGER, target_url TEXT,
		document_id TEXT, blob TEXT, content TEXT, etag TEXT, last_modified TEXT, misses INTEGER NOT NULL,
		attempts INTEGER NOT NULL, due_order INTEGER, seen_run INTEGER NOT NULL, missed_run INTEGER NOT NULL,
		fetched_at INTEGER, changed_at INTEGER, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
	) STRICT;
	CREATE UNIQUE INDEX source_pages_by_url ON source_pages (source_id, url);
	CREATE INDEX source_pages_by_creation ON source_pages (source_id, created_at, id);
	CREATE INDEX source_pages_by_run ON source_pages (source_id, kind, seen_run);
	CREATE INDEX source_pages_frontier ON source_pages (source_id, due_order, id) WHERE due_order IS NOT NULL;
	CREATE INDEX source_pages_by_content ON source_pages (source_id, content) WHERE content IS NOT NULL;
	CREATE INDEX source_pages_by_target ON source_pages (source_id, target_url) WHERE target_url IS NOT NULL;
	CREATE INDEX source_pages_by_document ON source_pages (document_id) WHERE document_id IS NOT NULL;

	ALTER TABLE documents ADD COLUMN source_id TEXT;
	CREATE INDEX documents_by_source ON documents (source_id, status) WHERE source_id IS NOT NULL;
	`;

/** Carries out one change of a source's pages, inside the caller's transaction. */
export function applySourceWrite(prepare: Prepare, write: SourceWrite): void {
	switch (write.op) {
		case 'sources.clear_frontier':
			prepare(
				'UPDATE source_pages SET due_order = NULL, version = version + 1 WHERE source_id = ? AND due_order IS NOT NULL',
			).run(write.source_id);
			return;
		case 'sources.find_pages':
			findPages(prepare, write);
			return;
		case 'sources.find_duplicates':
			prepare(
				`UPDATE source_pages SET due_order = ${DUE_ORDER}, attempts = 0, version = version + 1
				 WHERE source_id = @source_id AND target_url = @target_url AND status = 'duplicate' AND seen_run = @run
				 AND due_order IS NULL`,
			).run({ source_id: write.source_id, target_url: write.target_url, run: write.run });
			return;
		case 'sources.remove_sitemaps':
			prepare("DELETE FROM source_pages WHERE source_id = ? AND kind = 'sitemap' AND seen_run < ?").run(
				write.source_id,
				write.run,
			);
			return;
		case 'sources.erase':
			prepare('DELETE FROM source_pages WHERE source_id = ?').run(write.source_id);
			prepare('DELETE FROM sources WHERE id = ?').run(write.source_id);
	}
}

/** Near the start first; of these, pages before variants of pages by a query. Sitemaps precede all pages. */
const DUE_ORDER = "iif(kind = 'sitemap', -1, 2 * depth + (instr(url, '?') > 0))";

const COUNT_FOUND = 'SELECT count(*) FROM source_pages WHERE source_id = ? AND kind = ? AND seen_run = ?';
/** Pages whose document a request deleted are kept for ever. They must not keep out new pages. */
const COUNT_ALL = "SELECT count(*) FROM source_pages WHERE source_id = ? AND kind = ? AND status <> 'removed'";

type FindPages = Extract<SourceWrite, { op: 'sources.find_pages' }>;

function findPages(prepare: Prepare, { source_id, run, pages, max_pages, max_sitemaps, at }: FindPages): void {
	const find = prepare('SELECT seen_run FROM source_pages WHERE source_id = ? AND url = ?').pluck();
	const seeAgain = prepare(
		`UPDATE source_pages SET seen_run = @run, depth = @depth, attempts = 0, updated_at = @at, version = version + 1,
			due_order = ${DUE_ORDER.replace('depth', '@depth')},
			fetch_url = iif(status IN ('gone', 'failed'), @fetch_url, fetch_url)
		 WHERE source_id = @source_id AND url = @url`,
	);
	const insert = prepare(
		`INSERT INTO source_pages (id, version, source_id, kind, url, fetch_url, depth, status, misses, attempts, due_order,
			seen_run, missed_run, created_at, updated_at)
		 SELECT @id, 1, @source_id, @kind, @url, @fetch_url, @depth, 'queued', 0, 0, ${DUE_ORDER}, @run, 0, @at, @at
		 FROM (SELECT @kind AS kind, @depth AS depth, @url AS url)`,
	);
	const limits = { page: max_pages, sitemap: max_sitemaps };
	const countOf = (sql: string, kind: FoundPage['kind'], ...rest: number[]) =>
		prepare(sql)
			.pluck()
			.get(source_id, kind, ...rest) as number;
	const found = { page: countOf(COUNT_FOUND, 'page', run), sitemap: countOf(COUNT_FOUND, 'sitemap', run) };
	const all = { page: countOf(COUNT_ALL, 'page'), sitemap: countOf(COUNT_ALL, 'sitemap') };
	for (const { kind, url, fetch_url, depth } of pages) {
		const seenRun = find.get(source_id, url) as number | undefined;
		if (seenRun === run || found[kind] >= limits[kind]) continue;
		if (seenRun !== undefined) seeAgain.run({ source_id, url, fetch_url, run, depth, at });
		else if (all[kind] >= limits[kind]) continue;
		else {
			insert.run({ id: newId('source_page'), source_id, kind, url, fetch_url, depth, run, at });
			all[kind]++;
		}
		found[kind]++;
	}
	prepare('UPDATE sources SET found = ?, version = version + 1 WHERE id = ?').run(found.page, source_id);
}
