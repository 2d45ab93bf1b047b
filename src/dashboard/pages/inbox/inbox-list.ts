import { currentSession } from '../../app/session.ts';
import { type InboxEntry, type InboxFilters, loadEntry, loadPage } from './queries.ts';

/** The most conversations that the list holds. */
export const MAX_ENTRIES = 120_000;
/** Changes within this time are loaded together (ms). */
const REFRESH_MS = 250;
/** With more changes than this at once the beginning of the list is loaded instead. */
const MAX_REFRESHES = 20;
/** Entries that fill the first screen. */
const FIRST_SCREEN = 20;

interface Section {
	/** Undefined: the list has one section. */
	unread: boolean | undefined;
	entries: InboxEntry[];
	/** Undefined: not loaded yet; null: complete. */
	cursor: string | null | undefined;
}

/**
 * The list of conversations: unread ones first, loaded page by page, and kept up to date. The open conversation keeps its place
 * while it is read.
 */
export class InboxList {
	readonly filters: InboxFilters;
	error: Error | null = null;
	isLoading = false;
	openId: string | undefined;
	readonly #onChange: () => void;
	readonly #abort = new AbortController();
	readonly #known = new Set<string>();
	readonly #changed = new Set<string>();
	#sections: Section[];
	#timer: ReturnType<typeof setTimeout> | null = null;

	constructor(filters: InboxFilters, onChange: () => void) {
		this.filters = filters;
		this.#onChange = onChange;
		this.#sections = this.#emptySections();
	}

	/** What is shown: a section is empty until the one before it is complete. */
	get sections(): readonly Readonly<Section>[] {
		const incomplete = this.#sections.findIndex(({ cursor }) => cursor !== null);
		if (incomplete < 0) return this.#sections;
		return this.#sections.map((section, at) => (at <= incomplete ? section : { ...section, entries: [] }));
	}

	get count(): number {
		return this.#known.size;
	}

	/** Fewer than are loaded while a section before them is incomplete. A page may be short, or even empty. */
	get #shownCount(): number {
		return this.sections.reduce((count, { entries }) => count + entries.length, 0);
	}

	get isComplete(): boolean {
		return this.count >= MAX_ENTRIES || this.#sections.every(({ cursor }) => cursor === null);
	}

	/** Loads the next page, unless one is on its way. At the beginning it loads the first page of each section at once. */
	async loadMore(): Promise<void> {
		const first = this.#sections.filter(({ cursor }) => cursor === undefined);
		const sections = first.length > 0 ? first : this.#sections.filter(({ cursor }) => cursor !== null).slice(0, 1);
		if (this.isLoading || sections.length === 0 || this.count >= MAX_ENTRIES) return;
		this.isLoading = true;
		this.error = null;
		this.#onChange();
		try {
			await Promise.all(sections.map((section) => this.#loadPage(section)));
		} catch (error) {
			// The page was left: nothing is loaded after that.
			if (this.#abort.signal.aborted) return;
			this.error = error as Error;
		}
		this.isLoading = false;
		this.#onChange();
		if (this.error === null && !this.isComplete && this.#shownCount < FIRST_SCREEN) void this.loadMore();
	}

	async #loadPage(section: Section): Promise<void> {
		const page = await loadPage(this.filters, section.unread, section.cursor ?? null, this.#abort.signal);
		// Not where the list was begun again meanwhile.
		if (!this.#sections.includes(section)) return;
		section.cursor = page.next_cursor;
		section.entries = [...section.entries, ...page.data.filter((entry) => this.#isNew(entry))];
		this.#onChange();
	}

	/** Loads a conversation again soon: something has happened in it. */
	refresh(id: string): void {
		this.#changed.add(id);
		this.#timer ??= setTimeout(() => void this.#refreshChanged(), REFRESH_MS);
	}

	/** Shows a conversation that was changed here at once. */
	replace(entry: InboxEntry): void {
		const id = entry.conversation.id;
		const from = this.#sections.findIndex(({ entries }) => entries.some((other) => other.conversation.id === id));
		const keepsPlace = from >= 0 && id === this.openId;
		// The sections stay the same objects: a page that is on its way is added to them.
		for (const [at, section] of this.#sections.entries()) {
			section.entries =
				keepsPlace && at === from
					? section.entries.map((other) => (isSame(other, entry) ? entry : other))
					: section.entries.filter((other) => !isSame(other, entry));
		}
		if (!keepsPlace) this.#insert(entry);
		this.#onChange();
	}

	remove(id: string): void {
		this.#known.delete(id);
		for (const section of this.#sections) {
			section.entries = section.entries.filter(({ conversation }) => conversation.id !== id);
		}
		this.#onChange();
	}

	/** Loads the list from its beginning. */
	async reload(): Promise<void> {
		this.#sections = this.#emptySections();
		this.#known.clear();
		await this.loadMore();
	}

	leave(): void {
		this.#abort.abort();
		if (this.#timer !== null) clearTimeout(this.#timer);
	}

	async #refreshChanged(): Promise<void> {
		this.#timer = null;
		const ids = [...this.#changed];
		this.#changed.clear();
		// Which conversations match a search is known to the server only.
		const shown = this.filters.search ? ids.filter((id) => this.#known.has(id)) : ids;
		if (shown.length > MAX_REFRESHES) return this.reload();
		await Promise.all(
			shown.map(async (id) => {
				try {
					this.replace(await loadEntry(id, this.#abort.signal));
				} catch {
					// It was erased, or the connection is lost: then the list is loaded again later.
				}
			}),
		);
	}

	#insert(entry: InboxEntry): void {
		const isMatch = this.filters.search ? this.#known.has(entry.conversation.id) : this.#matches(entry);
		this.#known.delete(entry.conversation.id);
		if (!isMatch) return;
		const isUnread = entry.unread_count > 0;
		const section = this.#sections.find(({ unread }) => unread === undefined || unread === isUnread);
		if (section === undefined) return;
		const at = section.entries.findIndex((other) => activityOf(other) <= activityOf(entry));
		// Beyond what is loaded it comes with its page.
		if (at < 0 && section.cursor !== null) return;
		this.#known.add(entry.conversation.id);
		section.entries.splice(at < 0 ? section.entries.length : at, 0, entry);
	}

	#matches({ conversation, ...entry }: InboxEntry): boolean {
		const { filters } = this;
		return (
			conversation.status === (filters.status ?? 'active') &&
			(!filters.deployment || conversation.deployment_id === filters.deployment) &&
			(!filters.mine || conversation.assignee_id === currentSession().user.id) &&
			(!filters.unread || entry.unread_count > 0) &&
			(!filters.waiting || entry.waiting_since !== null) &&
			(!filters.down || entry.rated_down) &&
			(!filters.unanswered || entry.unanswered)
		);
	}

	#isNew({ conversation: { id } }: InboxEntry): boolean {
		if (this.#known.has(id)) return false;
		this.#known.add(id);
		return true;
	}

	#emptySections(): Section[] {
		const { search, unread } = this.filters;
		const kinds = search ? [undefined] : unread ? [true] : [true, false];
		return kinds.map((kind) => ({ unread: kind, entries: [], cursor: undefined }));
	}
}

const isSame = (one: InboxEntry, other: InboxEntry) => one.conversation.id === other.conversation.id;

const activityOf = ({ conversation }: InboxEntry) => conversation.last_message_at ?? conversation.created_at;
