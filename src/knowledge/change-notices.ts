import { type Log, messageOf } from '../base/index.ts';
import type { NoticeType } from '../contract/index.ts';
import type { Commit, Store, Write } from '../store/index.ts';
import { presentDocument } from './documents.ts';
import { presentKnowledgeBase, readStatus } from './status.ts';

/** Changes are collected for this long (ms), so that a busy knowledge base gives few notices. */
const COLLECT_MS = 200;
/** Documents whose changes are collected. Beyond them, only their knowledge bases are reported. */
const MAX_DOCUMENTS = 1_000;

/** Where notices go. */
export interface NoticeTarget {
	/** Whether any workspace has a follower. */
	readonly isFollowed: boolean;
	hasFollowers(workspaceId: string): boolean;
	onFollowersChange(listener: () => void): () => void;
	publish(workspaceId: string, notice: { type: NoticeType; subject: string; data: unknown }): void;
}

export interface ChangeNoticesOptions {
	store: Pick<Store, 'get' | 'onCommits' | 'searchIndex'>;
	notices: NoticeTarget;
	log: Log;
}

/**
 * Tells the followers of a workspace which of its documents and knowledge bases have changed:
 * 1. While there are followers, it collects the ids that commits change.
 * 2. After a short time it reads their records and publishes them.
 */
export class ChangeNotices implements Disposable {
	readonly #options: ChangeNoticesOptions;
	readonly #unwatch: () => void;
	/** Ends the listening to commits; null while there are no followers. */
	#unlisten: (() => void) | null = null;
	#timer: NodeJS.Timeout | undefined;
	#documents = new Set<string>();
	/** Documents that a reindex has reached: their knowledge bases have progressed. */
	#reached = new Set<string>();
	#knowledgeBases = new Set<string>();

	constructor(options: ChangeNoticesOptions) {
		this.#options = options;
		this.#unwatch = options.notices.onFollowersChange(() => this.#followCommits());
	}

	[Symbol.dispose](): void {
		this.#unwatch();
		this.#unlisten?.();
		clearTimeout(this.#timer);
	}

	/** Listens while there are followers: commits cost nothing otherwise. */
	#followCommits(): void {
		const { store, notices } = this.#options;
		if (notices.isFollowed) {
			this.#unlisten ??= store.onCommits((commit) => this.#collect(commit));
			return;
		}
		this.#unlisten?.();
		this.#unlisten = null;
	}

	#collect({ write = [] }: Commit): void {
		for (const change of write) this.#collectWrite(change);
		if (this.#documents.size + this.#reached.size + this.#knowledgeBases.size === 0) return;
		this.#timer ??= setTimeout(() => void this.#publishCollected(), COLLECT_MS).unref();
	}

	#collectWrite(change: Write): void {
		if (change.op === 'insert' || change.op === 'patch') {
			const id = change.op === 'insert' ? change.record.id : change.id;
			if (change.kind === 'knowledge_bases') this.#knowledgeBases.add(id);
			if (change.kind === 'documents') addBounded(this.#documents, id);
		} else if (change.op === 'index.add_document' || change.op === 'index.copy_document') {
			addBounded(this.#reached, change.document_id);
		}
	}

	async #publishCollected(): Promise<void> {
		const documents = this.#documents;
		const reached = this.#reached;
		const knowledgeBases = this.#knowledgeBases;
		this.#timer = undefined;
		this.#documents = new Set();
		this.#reached = new Set();
		this.#knowledgeBases = new Set();
		try {
			for (const id of documents) await this.#publishDocument(id);
			for (const id of reached) {
				const document = await this.#options.store.get('documents', id);
				if (document) knowledgeBases.add(document.knowledge_base_id);
			}
			for (const id of knowledgeBases) await this.#publishKnowledgeBase(id);
		} catch (error) {
			// Followers read the resources again with their next notice, or when they connect again.
			this.#options.log.warn({ error: messageOf(error) }, 'notices of documents could not be published');
		}
	}

	/** A document that was removed meanwhile is reported by its knowledge base, whose record changes with it. */
	async #publishDocument(id: string): Promise<void> {
		const { store, notices } = this.#options;
		const record = await store.get('documents', id);
		if (!record || !notices.hasFollowers(record.workspace_id)) return;
		notices.publish(record.workspace_id, { type: 'document.updated', subject: id, data: presentDocument(record) });
	}

	async #publishKnowledgeBase(id: string): Promise<void> {
		const { store, notices } = this.#options;
		const record = await store.get('knowledge_bases', id);
		if (!record || !notices.hasFollowers(record.workspace_id)) return;
		const data = { ...presentKnowledgeBase(record), ...(await readStatus(store, record)) };
		notices.publish(record.workspace_id, { type: 'knowledge_base.updated', subject: id, data });
	}
}

function addBounded(ids: Set<string>, id: string): void {
	if (ids.size < MAX_DOCUMENTS) ids.add(id);
}
