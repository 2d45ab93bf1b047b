import { newId } from '../../base/index.ts';
import type { FoundPage, SourceWrite } from '../commit.ts';
import type { Sql } from './sql.ts';
import { toJson } from './to-json.ts';

/** Carries out one change of a source's pages, inside the caller's transaction. */
export async function applySourceWrite(sql: Sql, write: SourceWrite): Promise<void> {
	const { source_id } = write;
	switch (write.op) {
		case 'sources.clear_frontier':
			await sql.run(
				`UPDATE source_pages SET due_order = NULL, version = version + 1
				 WHERE source_id = @source_id AND due_order IS NOT NULL`,
				{ source_id },
			);
			return;
		case 'sources.find_pages':
			await findPages(sql, write);
			return;
		case 'sources.find_duplicates':
			await sql.run(
				`UPDATE source_pages SET due_order = ${dueOrder('kind', 'depth', 'url')}, attempts = 0, version = version + 1
				 WHERE source_id = @source_id AND target_url = @target_url AND status = 'duplicate' AND seen_run = @run
				 AND due_order IS NULL`,
				{ source_id, target_url: write.target_url, run: write.run },
			);
			return;
		case 'sources.remove_sitemaps':
			await sql.run("DELETE FROM source_pages WHERE source_id = @source_id AND kind = 'sitemap' AND seen_run < @run", {
				source_id,
				run: write.run,
			});
			return;
		case 'sources.erase':
			// A transaction that finds pages has locked the source: the next statement sees them.
			await sql.run('DELETE FROM sources WHERE id = @source_id', { source_id });
			await sql.run('DELETE FROM source_pages WHERE source_id = @source_id', { source_id });
	}
}

/** Near the start first; of these, pages before variants of pages by a query. Sitemaps precede all pages. */
function dueOrder(kind: string, depth: string, url: string): string {
	return `CASE WHEN ${kind} = 'sitemap' THEN -1 ELSE 2 * ${depth} + (strpos(${url}, '?') > 0)::int END`;
}

type FindPages = Extract<SourceWrite, { op: 'sources.find_pages' }>;
type PageCounts = Record<FoundPage['kind'], number>;

async function findPages(sql: Sql, write: FindPages): Promise<void> {
	const { source_id, run, at } = write;
	// Of two transactions, the second sees what the first has found: together they keep the limits.
	await sql.get('SELECT 1 FROM sources WHERE id = @source_id FOR UPDATE', { source_id });
	const { found, added, seenAgain } = await choosePages(sql, write);
	if (seenAgain.length > 0) {
		await sql.run(
			`UPDATE source_pages AS page SET seen_run = @run, depth = again.depth, attempts = 0, updated_at = @at,
				version = version + 1, due_order = ${dueOrder('page.kind', 'again.depth', 'page.url')},
				fetch_url = CASE WHEN status IN ('gone', 'failed') THEN again.fetch_url ELSE page.fetch_url END
			 FROM jsonb_to_recordset(@pages) AS again (url text, fetch_url text, depth bigint)
			 WHERE page.source_id = @source_id AND page.url = again.url`,
			{ source_id, run, at, pages: toJson(seenAgain) },
		);
	}
	if (added.length > 0) {
		await sql.run(
			`INSERT INTO source_pages (id, version, source_id, kind, url, fetch_url, depth, status, misses, attempts, due_order,
				seen_run, missed_run, created_at, updated_at)
			 SELECT id, 1, @source_id, kind, url, fetch_url, depth, 'queued', 0, 0, ${dueOrder('kind', 'depth', 'url')},
				@run, 0, @at, @at
			 FROM jsonb_to_recordset(@pages) AS added (id text, kind text, url text, fetch_url text, depth bigint)`,
			{ source_id, run, at, pages: toJson(added.map((page) => ({ id: newId('source_page'), ...page }))) },
		);
	}
	await sql.run('UPDATE sources SET found = @found, version = version + 1 WHERE id = @source_id', { source_id, found });
}

/** The pages that this run has not found yet, up to the limits, and how many pages it has found with them. */
async function choosePages(
	sql: Sql,
	{ source_id, run, pages, max_pages, max_sitemaps }: FindPages,
): Promise<{ found: number; added: FoundPage[]; seenAgain: FoundPage[] }> {
	// Pages whose document a request deleted are kept for ever. They must not keep out new pages.
	const counts = await sql.all<{ kind: FoundPage['kind']; found: number; stored: number }>(
		`SELECT kind, count(*) FILTER (WHERE seen_run = @run) AS found, count(*) FILTER (WHERE status <> 'removed') AS stored
		 FROM source_pages WHERE source_id = @source_id GROUP BY kind`,
		{ source_id, run },
	);
	const known = await sql.all<{ url: string; seen_run: number }>(
		'SELECT url, seen_run FROM source_pages WHERE source_id = @source_id AND url = ANY(@urls)',
		{ source_id, urls: pages.map(({ url }) => url) },
	);
	const limits: PageCounts = { page: max_pages, sitemap: max_sitemaps };
	const found: PageCounts = { page: 0, sitemap: 0 };
	const stored: PageCounts = { page: 0, sitemap: 0 };
	for (const count of counts) {
		found[count.kind] = count.found;
		stored[count.kind] = count.stored;
	}
	const seenRuns = new Map(known.map(({ url, seen_run }) => [url, seen_run]));
	const added: FoundPage[] = [];
	const seenAgain: FoundPage[] = [];
	for (const page of pages) {
		const { kind, url } = page;
		const seenRun = seenRuns.get(url);
		if (seenRun === run || found[kind] >= limits[kind]) continue;
		if (seenRun !== undefined) seenAgain.push(page);
		else if (stored[kind] >= limits[kind]) continue;
		else {
			added.push(page);
			stored[kind]++;
		}
		found[kind]++;
		seenRuns.set(url, run);
	}
	return { found: found.page, added, seenAgain };
}
