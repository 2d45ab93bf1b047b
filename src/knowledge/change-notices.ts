import { type Log, messageOf } from '../base/index.ts';
import type { NoticeType } from '../contract/index.ts';
import { ChangedIds, type Store, type Write } from '../store/index.ts';
import { presentDocument } from './documents.ts';
import { presentKnowledgeBase, readStatus } from './status.ts';

/** Documents whose changes are reported at once. Beyond them, only their knowledge bases are reported. */
const MAX_IDS = 1_000;

type ChangedKind = 'documents' | 'indexed_documents' | 'knowledge_bases';

/** Where notices go. */
export interface NoticeTarget {
	/** Whether any workspace has a follower. */
	readonly isFollowed: boolean;
	hasFollowers(workspaceId: string): boolean;
	onFollowersChange(listener: () => void): () => void;
	publish(workspaceId: string, notice: { type: NoticeType; subject: string; data: unknown }): void;
}

export interface ChangeNoticesOptions {
	store: Pick<Store, 'get' | 'hints' | 'onCommits' | 'searchIndex'>;
	notices: NoticeTarget;
	log: Log;
}

/**
 * Tells the followers of a workspace which of its documents and knowledge bases have changed:
 * 1. While there are followers, it collects the ids that commits change, on all nodes.
 * 2. After a short time it reads their records and publishes them.
 */
export class ChangeNotices implements Disposable {
	readonly #options: ChangeNoticesOptions;
	readonly #unwatch: () => void;
	readonly #changed: ChangedIds<ChangedKind>;

	constructor(options: ChangeNoticesOptions) {
		this.#options = options;
		const { store, notices } = options;
		this.#changed = new ChangedIds({
			store,
			topics: ['documents', 'indexed_documents', 'knowledge_bases'],
			select({ write = [] }, add) {
				for (const change of write) selectWrite(change, add);
			},
			isFollowed: () => notices.isFollowed,
			onChanged: (ids) => void this.#publish(ids),
			maxIds: MAX_IDS,
		});
		this.#unwatch = notices.onFollowersChange(() => this.#changed.onFollowersChange());
	}

	[Symbol.dispose](): void {
		this.#unwatch();
		this.#changed[Symbol.dispose]();
	}

	async #publish(changed: ReadonlyMap<ChangedKind, ReadonlySet<string>>): Promise<void> {
		const knowledgeBases = new Set(changed.get('knowledge_bases'));
		try {
			for (const id of changed.get('documents') ?? []) await this.#publishDocument(id);
			// The reindex that has reached them has progressed.
			for (const id of changed.get('indexed_documents') ?? []) {
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

function selectWrite(change: Write, add: (kind: ChangedKind, id: string) => void): void {
	if (change.op === 'insert' || change.op === 'patch') {
		const id = change.op === 'insert' ? change.record.id : change.id;
		if (change.kind === 'knowledge_bases' || change.kind === 'documents') add(change.kind, id);
	} else if (change.op === 'index.add_document' || change.op === 'index.copy_document') {
		add('indexed_documents', change.document_id);
	}
}
