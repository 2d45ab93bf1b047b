import { AppError, type Clock, newId, timestamp, timestampOrNull } from '../../base/index.ts';
import type { Source, SourceCreate, SourcePage, SourcePatch } from '../../contract/index.ts';
import {
	aroundCommit,
	type Commit,
	expectVersion,
	type KnowledgeBaseRecord,
	prepareChange,
	requireVersion,
	type SourcePageRecord,
	type SourceRecord,
	type Store,
	type UncommittedChange,
} from '../../store/index.ts';
import type { Documents } from '../documents.ts';
import { canonicalUrl } from './canonical-url.ts';
import { removeSource } from './remove-source.ts';
import { nextRunAt, replaceJob } from './run-state.ts';

/** Sources of one knowledge base. */
const MAX_SOURCES = 100;
const DEFAULT_MAX_PAGES = 500;
const DEFAULT_DEPTH = 5;
const DEFAULT_REFRESH_HOURS = 24;
/** Addresses of a source of one page: the page, and what it redirects to. */
const PAGES_OF_URL = 20;

/** The earliest time, not the present time: a clock that is set back must not delay a run. */
const DUE_NOW = 0;
/** A deletion that a crash interrupts continues after this time, or at the next start. */
const CONTINUE_DELETION_MS = 60_000;

export interface SourcesDependencies {
	store: Store;
	clock: Clock;
	documents: Pick<Documents, 'removeUnusedBlob'>;
	/** Called when a run may be due. */
	onQueued(): void;
}

/**
 * A source as the API shows it.
 * @param indexed the number of its documents that searches find
 */
export function presentSource(record: SourceRecord, indexed: number): Source {
	const { found, fetched, unchanged, failed, gone, next_run_at } = record;
	return {
		id: record.id,
		knowledge_base_id: record.knowledge_base_id,
		type: record.type,
		url: record.url,
		include: record.include,
		exclude: record.exclude,
		max_pages: record.type === 'url' ? 1 : record.max_pages,
		depth: record.type === 'website' ? record.depth : 0,
		refresh_hours: record.refresh_hours,
		status: statusOf(record),
		error: record.error,
		progress: { found, fetched, indexed, unchanged, failed, gone },
		started_at: timestampOrNull(record.started_at),
		finished_at: timestampOrNull(record.finished_at),
		next_run_at: next_run_at === DUE_NOW || record.state !== 'active' ? null : timestampOrNull(next_run_at),
		created_at: timestamp(record.created_at),
		updated_at: timestamp(record.updated_at),
	};
}

function statusOf({ state, running, next_run_at, error }: SourceRecord): Source['status'] {
	if (state !== 'active') return state;
	if (running === 1) return 'running';
	if (next_run_at === DUE_NOW) return 'queued';
	return error === null ? 'idle' : 'error';
}

/** A page of a source as the API shows it. */
export function presentSourcePage(record: SourcePageRecord): SourcePage {
	return {
		id: record.id,
		source_id: record.source_id,
		url: record.fetch_url ?? record.url,
		depth: record.depth,
		status: record.status,
		error: record.error,
		http_status: record.http_status,
		target_url: record.target_url,
		document_id: record.document_id,
		fetched_at: timestampOrNull(record.fetched_at),
		changed_at: timestampOrNull(record.changed_at),
		created_at: timestamp(record.created_at),
	};
}

/** Sources of knowledge bases: adds, changes and removes them. Their job does the rest. */
export class Sources {
	readonly #store: Store;
	readonly #clock: Clock;
	readonly #deps: SourcesDependencies;

	constructor(deps: SourcesDependencies) {
		this.#store = deps.store;
		this.#clock = deps.clock;
		this.#deps = deps;
	}

	/**
	 * Adds a source whose first run is due at once.
	 * @throws AppError `plan_limit_exceeded` if the knowledge base has too many
	 */
	create({ id: knowledgeBaseId }: KnowledgeBaseRecord, settings: SourceCreate): UncommittedChange<SourceRecord> {
		const change = prepareChange(this.#store, async () => {
			const knowledgeBase = await this.#store.get('knowledge_bases', knowledgeBaseId);
			if (!knowledgeBase) throw new AppError('not_found', 'The knowledge base does not exist.');
			const where = { knowledge_base_id: knowledgeBaseId };
			const existing = await this.#store.list('sources', { where, order: 'asc', limit: MAX_SOURCES });
			if (existing.length >= MAX_SOURCES) {
				throw new AppError('plan_limit_exceeded', `A knowledge base has at most ${MAX_SOURCES} sources.`);
			}
			const record = newSource(knowledgeBase, settings, this.#clock.now());
			const commit: Commit = {
				expect: [expectVersion('knowledge_bases', knowledgeBase)],
				write: [
					// Two sources that are added at once conflict.
					{ op: 'patch', kind: 'knowledge_bases', id: knowledgeBase.id, set: {} },
					{ op: 'insert', kind: 'sources', record },
				],
				jobs: replaceJob(record, DUE_NOW),
			};
			return { commit, result: record };
		});
		return this.#thenWake(change);
	}

	/**
	 * Changes the settings of a source. The next run, or the rest of the current one, uses them.
	 * @param versions the versions that the client accepts; null accepts any
	 */
	update(
		knowledgeBaseId: string,
		id: string,
		patch: SourcePatch,
		versions: readonly number[] | null,
	): UncommittedChange<SourceRecord> {
		const change = prepareChange(this.#store, async () => {
			const source = await this.#sourceOf(knowledgeBaseId, id);
			requireVersion(source, versions);
			requireFields(source.type, patch);
			const now = this.#clock.now();
			const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
			const next: SourceRecord = { ...source, ...given, updated_at: now, version: source.version + 1 };
			const isWaiting = source.running === 0 && source.next_run_at !== DUE_NOW;
			if (patch.refresh_hours !== undefined && isWaiting) {
				next.next_run_at = nextRunAt(next, false, source.finished_at ?? now);
			}
			const { id: _id, version: _version, created_at: _created, ...set } = next;
			const commit: Commit = {
				expect: [expectVersion('sources', source)],
				write: [{ op: 'patch', kind: 'sources', id, set }],
				// The job looks when the next run is due.
				jobs: next.state === 'active' && isWaiting ? replaceJob(next, DUE_NOW) : [],
			};
			return { commit, result: next };
		});
		return this.#thenWake(change);
	}

	/** Begins a run now. A run in progress continues. */
	refresh(knowledgeBaseId: string, id: string): UncommittedChange<SourceRecord> {
		return this.#change(knowledgeBaseId, id, (source) => ({
			state: 'active',
			next_run_at: source.running === 1 ? null : DUE_NOW,
		}));
	}

	/** Stops requests to the site. A run in progress can be resumed. */
	pause(knowledgeBaseId: string, id: string): UncommittedChange<SourceRecord> {
		return this.#change(knowledgeBaseId, id, () => ({ state: 'paused' }));
	}

	/** Continues the run that was paused, or waits for the next. */
	resume(knowledgeBaseId: string, id: string): UncommittedChange<SourceRecord> {
		return this.#change(knowledgeBaseId, id, () => ({ state: 'active' }));
	}

	/**
	 * Deletes a source with its documents. Resolves when no search finds any of them.
	 * @param versions the versions that the client accepts; null accepts any
	 */
	remove(knowledgeBaseId: string, id: string, versions: readonly number[] | null): UncommittedChange<SourceRecord> {
		const change = prepareChange(this.#store, async () => {
			const source = await this.#sourceOf(knowledgeBaseId, id);
			requireVersion(source, versions);
			const now = this.#clock.now();
			const commit: Commit = {
				expect: [expectVersion('sources', source)],
				write: [{ op: 'patch', kind: 'sources', id, set: { state: 'deleting', updated_at: now } }],
				jobs: replaceJob(source, now + CONTINUE_DELETION_MS),
			};
			return { commit, result: source };
		});
		return aroundCommit(change, async (commit) => {
			const source = await commit();
			await removeSource(this.#deps, id);
			// Its removal may make a training due.
			this.#deps.onQueued();
			return source;
		});
	}

	#change(
		knowledgeBaseId: string,
		id: string,
		changed: (source: SourceRecord) => Partial<Pick<SourceRecord, 'state' | 'next_run_at'>>,
	): UncommittedChange<SourceRecord> {
		const change = prepareChange(this.#store, async () => {
			const source = await this.#sourceOf(knowledgeBaseId, id);
			if (source.state === 'deleting') throw new AppError('not_found', 'The source is being deleted.');
			const set = { ...changed(source), updated_at: this.#clock.now() };
			const next: SourceRecord = { ...source, ...set, version: source.version + 1 };
			const isDue = next.state === 'active' && (next.running === 1 || next.next_run_at !== null);
			const commit: Commit = {
				expect: [expectVersion('sources', source)],
				write: [{ op: 'patch', kind: 'sources', id, set }],
				jobs: replaceJob(next, isDue ? DUE_NOW : null),
			};
			return { commit, result: next };
		});
		return this.#thenWake(change);
	}

	#thenWake(change: UncommittedChange<SourceRecord>): UncommittedChange<SourceRecord> {
		return aroundCommit(change, async (commit) => {
			const record = await commit();
			this.#deps.onQueued();
			return record;
		});
	}

	async #sourceOf(knowledgeBaseId: string, id: string): Promise<SourceRecord> {
		const source = await this.#store.get('sources', id);
		if (source?.knowledge_base_id !== knowledgeBaseId) throw new AppError('not_found', 'The source does not exist.');
		return source;
	}
}

function newSource(knowledgeBase: KnowledgeBaseRecord, settings: SourceCreate, now: number): SourceRecord {
	const { type, url, include = [], exclude = [], max_pages, depth, refresh_hours } = settings;
	requireFields(type, settings);
	if (canonicalUrl(url) === null) {
		const message = 'is too long once its special characters are escaped';
		throw new AppError('invalid_request', `/url ${message}.`, { details: [{ path: '/url', message }] });
	}
	return {
		id: newId('source'),
		version: 1,
		workspace_id: knowledgeBase.workspace_id,
		knowledge_base_id: knowledgeBase.id,
		type,
		url,
		include,
		exclude,
		max_pages: type === 'url' ? PAGES_OF_URL : (max_pages ?? DEFAULT_MAX_PAGES),
		depth: type === 'website' ? (depth ?? DEFAULT_DEPTH) : 1,
		refresh_hours: refresh_hours === undefined ? DEFAULT_REFRESH_HOURS : refresh_hours,
		state: 'active',
		running: 0,
		run: 0,
		hosts: [],
		incomplete: 0,
		failures_in_a_row: 0,
		error: null,
		found: 0,
		fetched: 0,
		unchanged: 0,
		failed: 0,
		gone: 0,
		started_at: null,
		finished_at: null,
		next_run_at: DUE_NOW,
		created_at: now,
		updated_at: now,
	};
}

/** Which settings each type of source does not have. */
const ABSENT_FIELDS = {
	website: [],
	sitemap: ['depth'],
	url: ['include', 'exclude', 'max_pages', 'depth'],
} as const satisfies Record<Source['type'], ReadonlyArray<keyof SourcePatch>>;

/** @throws AppError `invalid_request` */
function requireFields(type: Source['type'], settings: SourcePatch): void {
	for (const field of ABSENT_FIELDS[type]) {
		if (settings[field] === undefined) continue;
		const message = `does not go with a source of type ${type}`;
		throw new AppError('invalid_request', `/${field} ${message}.`, { details: [{ path: `/${field}`, message }] });
	}
}
