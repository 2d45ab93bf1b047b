import type { WidgetConfig, WidgetMessage } from '../../contract/index.ts';
import type { Strings } from '../languages/strings.ts';
import type { WidgetEvents } from '../public.d.ts';
import { backoff } from '../transport/backoff.ts';
import type { StreamEvent } from '../transport/event-stream.ts';
import { pause } from '../transport/pause.ts';
import { type Pending, rememberedAt } from '../transport/remembered.ts';
import { createRequests, Refusal } from '../transport/requests.ts';
import { createTranscript, type ShownMessage } from './transcript.ts';

/** What the visitor should know of: a sentence, and until when it holds (milliseconds since the epoch). */
export interface Notice {
	says: keyof Strings;
	until?: number;
}

export interface SessionOptions {
	base: string;
	config: WidgetConfig;
	/** Something that is shown has changed. */
	changed(): void;
	/** Something happened that those who cannot see it must hear. */
	heard(what: { reply: ShownMessage } | { says: keyof Strings }): void;
	emit<E extends keyof WidgetEvents>(event: E, detail: WidgetEvents[E]): void;
}

/** What a chat knows and does, without any looks. */
export type Session = ReturnType<typeof createSession>;

/** Tries of a message that the server is too busy for, or that finds no server; then it waits for the visitor. */
const TRIES = 8;
/** With streaming off nothing is pushed: the list is read again. */
const POLL_WRITING_MS = 2_000;
const POLL_MS = 8_000;
/** A stream that lasted so long was a good one. */
const LASTED_MS = 5_000;
/** A message that was on its way when its page went is sent by the next page, if that comes soon. */
const FRESH_MS = 10 * 60_000;
/** Nothing is sent or read while one of these holds. */
const BLOCKING: ReadonlyArray<keyof Strings> = ['signIn', 'forbidden', 'gone', 'closed'];

/**
 * One visitor's conversation: sends each message until it is answered, and never twice; follows what the server tells, from
 * where it was left, however often the connection breaks.
 */
export function createSession({ base, config, changed, heard, emit }: SessionOptions) {
	const { deployment_id, features } = config;
	let jwt: string | null = null;
	const requests = createRequests({ base, deploymentId: deployment_id, token: () => jwt });
	const transcript = createTranscript();
	let memory = rememberedAt(deployment_id, jwt);
	/** The conversation that is shown: another tab may begin one. */
	let shown = memory.get().conversation;
	/** Messages that may be sent again, by their key and, once stored, their id. */
	const sent = new Map<string, Pending>();
	const queue: string[] = [];
	let notice: Notice | null = features.jwt_required ? { says: 'signIn' } : null;
	/** The position in the conversation's stream. */
	let position = '';
	/** Whether the messages before this page are there. */
	let loaded = memory.get().conversation === null;
	/** Older messages than those shown. */
	let cursor: string | null = null;
	let active = false;
	let begun = false;
	let stopWanted = false;
	/** A message cannot get out, and waits for its next try. */
	let stuck = false;
	/** What a fresh token will send. */
	let unidentified: Pending | null = null;
	let delivering: AbortController | null = null;
	let following: AbortController | null = null;
	let over = false;
	let limited = 0;

	const blocked = () => notice !== null && BLOCKING.includes(notice.says);
	const busy = () => delivering !== null || transcript.writing();

	const note = (next: Notice | null) => {
		if (notice?.says !== next?.says && next) heard({ says: next.says });
		notice = next;
		changed();
	};
	const unnote = (...says: Array<keyof Strings>) => {
		if (notice && says.includes(notice.says)) note(null);
	};

	/** Follows the conversation while somebody looks at it or a reply is being written, and no message is on its way. */
	const update = () => {
		const wanted =
			!over &&
			!delivering &&
			!blocked() &&
			memory.get().conversation !== null &&
			((active && !document.hidden) || transcript.writing());
		if (wanted && !following) {
			const controller = new AbortController();
			following = controller;
			void follow(controller.signal).finally(() => {
				if (following !== controller) return;
				following = null;
				changed();
			});
		} else if (!wanted && following) {
			following.abort();
			following = null;
		}
		changed();
	};

	const online = () => unnote('offline');
	const offline = () => !blocked() && note({ says: 'offline' });
	/** Tabs of one visitor are in one conversation. */
	const elsewhere = ({ key }: StorageEvent) => {
		if (key !== memory.name || delivering || memory.read().conversation === shown) return;
		leave();
		shown = memory.get().conversation;
		loaded = shown === null;
		unnote('closed');
		update();
	};
	addEventListener('storage', elsewhere);
	addEventListener('online', online);
	addEventListener('offline', offline);
	document.addEventListener('visibilitychange', update);

	async function follow(signal: AbortSignal): Promise<void> {
		for (let attempt = 0; !signal.aborted; attempt++) {
			let wait = 0;
			const since = Date.now();
			try {
				const { conversation } = memory.get();
				if (conversation === null) return;
				if (!features.streaming) {
					await load(conversation, signal);
					attempt = -1;
					connected();
					await pause(transcript.writing() ? POLL_WRITING_MS : POLL_MS, signal);
					continue;
				}
				const events = await requests.follow(conversation, position, signal);
				// Only now: what happens from here on the stream tells.
				if (!loaded) await load(conversation, signal);
				connected();
				for await (const event of events) {
					attempt = 0;
					hear(event);
				}
			} catch (error) {
				if (signal.aborted) return;
				if (error instanceof Refusal) {
					if (!(await isTemporary(error))) return;
					wait = error.retryAfter * 1000;
				}
			}
			if (Date.now() - since > LASTED_MS) attempt = 0;
			if (!signal.aborted && (attempt > 0 || transcript.writing() || !loaded)) disconnected();
			await pause(Math.max(wait, backoff(attempt)), signal);
		}
	}

	const connected = () => unnote('reconnecting', 'offline');
	const disconnected = () => {
		if (!blocked() && notice?.says !== 'limited') note({ says: navigator.onLine ? 'reconnecting' : 'offline' });
	};

	async function load(conversation: string, signal?: AbortSignal): Promise<void> {
		const { data, next_cursor } = await requests.history(conversation, null, signal);
		if (signal?.aborted) return;
		for (const message of data) {
			const known = transcript.get(message.id);
			transcript.merge(message);
			if (loaded && known?.status !== message.status && message.role === 'assistant') ended(message);
		}
		if (!loaded) cursor = next_cursor;
		loaded = true;
		update();
	}

	/** Takes in what the server tells. */
	function hear({ id, event, data }: StreamEvent): void {
		const told = JSON.parse(data) as { message: WidgetMessage; message_id: string; index: number; delta: string };
		if (id) position = id;
		switch (event) {
			case 'message.created':
				transcript.store(told.message);
				if (told.message.status === 'in_progress') heard({ says: 'writing' });
				break;
			case 'message.delta':
				transcript.change(told.message_id, { looking: false });
				transcript.grow(told.message_id, told.index, told.delta);
				break;
			case 'message.reset':
				transcript.change(told.message_id, { content: '', status: 'in_progress', looking: false });
				break;
			case 'tool.started':
				transcript.change(told.message_id, { looking: true });
				break;
			case 'tool.completed':
				transcript.change(told.message_id, { looking: false });
				break;
			case 'message.completed':
			case 'message.failed':
				transcript.store(told.message);
				ended(told.message);
		}
		if (stopWanted && transcript.writing()) void stop();
		update();
	}

	/** A reply is whole. */
	function ended(message: WidgetMessage): void {
		stopWanted = false;
		if (message.status !== 'failed') {
			// Answered: it need not be sent again. The one that failed is kept, for the same message to be answered anew.
			if (message.author.type === 'model') memory.set({ pending: null });
			heard({ reply: transcript.get(message.id) as ShownMessage });
		} else heard({ says: 'failed' });
		emit('message', { message });
		void drain();
	}

	/** Sends a message until it is answered, or must not be. Always under the same key: the server makes one of it. */
	async function deliver(pending: Pending): Promise<void> {
		const controller = new AbortController();
		const { signal } = controller;
		delivering?.abort();
		delivering = controller;
		stuck = false;
		sent.set(pending.key, pending);
		if (!pending.message) transcript.send(pending);
		unnote('trouble', 'limited');
		update();
		let outcome: 'sent' | 'unsent' = 'sent';
		try {
			outcome = await tryUntilSent(pending, signal);
		} finally {
			if (delivering === controller) {
				delivering = null;
				if (outcome === 'unsent') {
					transcript.change(pending.key, { status: 'unsent' });
					// Written anew for a message that is stored: it stands as it stood.
					const reply = pending.message && replyTo(pending.message);
					if (reply) transcript.change(reply.id, { status: 'failed' });
				}
				update();
				void drain();
			}
		}
	}

	async function tryUntilSent(pending: Pending, signal: AbortSignal): Promise<'sent' | 'unsent'> {
		/** The server has told of it, on this delivery. */
		let known = false;
		for (let attempt = 0; ; ) {
			let wait = 0;
			try {
				if (!loaded && pending.conversation) await load(pending.conversation, signal).catch(() => {});
				const answer = await (features.streaming ? requests.stream : requests.whole)(pending, signal);
				connected();
				for await (const event of answer) {
					known ||= acknowledge(pending, event);
					hear(event);
				}
				// Whatever a stream that ended early did not tell, the conversation's own stream will.
				return 'sent';
			} catch (error) {
				if (signal.aborted) return 'sent';
				if (error instanceof Refusal) {
					if (error.status === 404 && pending.conversation && (await isForgotten())) {
						forget();
						pending.conversation = null;
						continue;
					}
					if (error.code === 'model_error') {
						failed(pending);
						return 'sent';
					}
					if (error.status === 401) unidentified = pending;
					if (error.status === 429 || !(await isTemporary(error))) {
						refused(error);
						return 'unsent';
					}
					wait = error.retryAfter * 1000;
				} else if (known) {
					// The message is stored, and its reply is being written: nothing need be sent again to see it.
					return 'sent';
				}
			}
			// Without a network it was not even tried.
			if (navigator.onLine) attempt++;
			if (attempt >= TRIES) {
				note({ says: 'trouble' });
				return 'unsent';
			}
			disconnected();
			if (stopWanted) {
				keepBack();
				return 'unsent';
			}
			stuck = true;
			await pause(Math.max(wait, backoff(attempt)), signal);
			if (signal.aborted) return 'sent';
			stuck = false;
		}
	}

	/** The server tells of the message that was sent: it is stored. */
	function acknowledge(pending: Pending, { event, data }: StreamEvent): boolean {
		if (event !== 'message.created') return false;
		const { message } = JSON.parse(data) as { message: WidgetMessage };
		if (message.role !== 'user') return false;
		transcript.remove(pending.key);
		const isNew = pending.message === '';
		pending.message = message.id;
		sent.set(message.id, pending);
		shown = message.conversation_id;
		memory.set({ conversation: shown, pending });
		if (isNew) emit('message', { message });
		return true;
	}

	/** The model failed to answer in one piece; the message is stored, though we were not told under which id. */
	function failed(pending: Pending): void {
		transcript.change(pending.key, { status: 'unsent' });
		note({ says: 'failed' });
	}

	function refused(error: Refusal): void {
		emit('error', { status: error.status, code: error.code });
		if (error.status !== 429) {
			if (!blocked()) note({ says: 'trouble' });
			return;
		}
		const ms = (error.retryAfter || 5) * 1000;
		note({ says: 'limited', until: Date.now() + ms });
		clearTimeout(limited);
		limited = setTimeout(() => {
			unnote('limited');
			void drain();
		}, ms) as unknown as number;
	}

	/** Whether asking again later may help; where not, the visitor is told why. */
	async function isTemporary(error: Refusal): Promise<boolean> {
		const { status, code } = error;
		if (status === 429 || status >= 500) return true;
		if (status === 401) {
			note({ says: 'signIn' });
			emit('unauthorized', {});
		} else if (status === 403) note({ says: 'forbidden' });
		else if (code === 'conversation_archived') note({ says: 'closed' });
		else if (code === 'assistant_archived') note({ says: 'gone' });
		else if (status === 404 && memory.get().conversation) {
			const isGone = await isForgotten();
			if (isGone === null) return true;
			if (isGone) {
				const shown = transcript.list().length > 0;
				forget();
				if (shown) note({ says: 'closed' });
			}
		} else if (status === 404) note({ says: 'gone' });
		if (following) emit('error', { status, code });
		return false;
	}

	/** Whether it is the conversation that is gone; false where it is the deployment, which may come back; null: not known. */
	async function isForgotten(): Promise<boolean | null> {
		try {
			await requests.config();
			return true;
		} catch (error) {
			if (!(error instanceof Refusal && error.status === 404)) return null;
			note({ says: 'gone' });
			return false;
		}
	}

	function forget(): void {
		shown = null;
		memory.set({ conversation: null, pending: null });
		position = '';
		cursor = null;
		loaded = true;
	}

	async function drain(): Promise<void> {
		if (busy() || blocked() || notice?.says === 'limited') return;
		const text = queue.shift();
		if (text !== undefined) await begin(text);
	}

	function begin(content: string): Promise<void> {
		const pending: Pending = {
			key: newKey(),
			content,
			conversation: memory.get().conversation,
			message: '',
			at: Date.now(),
		};
		// Kept before it is sent: a page that is reloaded now sends it again, under the same key.
		memory.set({ pending });
		return deliver(pending);
	}

	const replyTo = (id: string) => {
		const list = transcript.list();
		const next = list[list.findIndex((message) => message.id === id) + 1];
		return next?.role === 'assistant' ? next : undefined;
	};

	/** What was stopped on its way is not sent later: not by the next page either. */
	const keepBack = () => {
		stopWanted = false;
		memory.set({ pending: null });
	};

	async function stop(): Promise<void> {
		const { conversation, pending } = memory.get();
		if (delivering && stuck && pending) {
			delivering.abort();
			delivering = null;
			keepBack();
			transcript.change(pending.key, { status: 'unsent' });
			unnote('reconnecting');
			update();
			return drain();
		}
		if (conversation === null || (delivering && pending?.message === '')) {
			stopWanted = true;
			return;
		}
		stopWanted = false;
		await requests.stop(conversation).catch(() => note({ says: 'trouble' }));
	}

	/** Ends what goes on; the conversation stays where it is. */
	function leave(): void {
		delivering?.abort();
		following?.abort();
		delivering = following = null;
		transcript.clear();
		queue.length = 0;
		position = '';
		cursor = null;
		stopWanted = false;
		unidentified = null;
	}

	return {
		messages: transcript.list,
		notice: () => notice,
		blocked,
		busy,
		/** Whether the messages of before are still to come. */
		loading: () => !loaded,
		hasEarlier: () => cursor !== null,

		/** Somebody looks at the chat, or does not any more. */
		look(looking: boolean): void {
			active = looking;
			const { pending } = memory.get();
			if (looking && !begun && !blocked()) {
				begun = true;
				if (pending) sent.set(pending.message || pending.key, pending);
				if (pending?.message === '') {
					if (Date.now() - pending.at < FRESH_MS) void deliver(pending);
					else {
						// Whether it is still meant, the visitor knows.
						transcript.send(pending);
						transcript.change(pending.key, { status: 'unsent' });
					}
				}
			}
			update();
		},

		/** Sends what the visitor wrote, as soon as what is being written is finished. */
		send(text: string): void {
			const content = text.trim();
			if (!content) return;
			queue.push(content);
			void drain();
		},

		/** Sends a message again that was not sent, or has a reply written anew that failed. */
		retry(id: string): void {
			if (busy() || blocked()) return;
			const list = transcript.list();
			const at = list.findIndex((message) => message.id === id);
			const message = list[at];
			if (message?.role === 'user') {
				void deliver(sent.get(id) ?? { key: id, content: message.content, conversation: null, message: '', at: 0 });
				return;
			}
			const question = list
				.slice(0, at)
				.reverse()
				.find(({ role }) => role === 'user');
			if (!question) return;
			const pending = sent.get(question.id);
			if (!pending) void begin(question.content);
			else {
				memory.set({ pending });
				transcript.change(id, { content: '', status: 'in_progress' });
				void deliver(pending);
			}
		},

		stop,

		async rate(id: string, rating: 'up' | 'down'): Promise<void> {
			const message = transcript.get(id);
			if (!message) return;
			const next = message.feedback === rating ? null : rating;
			transcript.change(id, { feedback: next });
			changed();
			try {
				await requests.rate(id, next);
				if (next) heard({ says: 'thanks' });
			} catch {
				transcript.change(id, { feedback: message.feedback });
				note({ says: 'trouble' });
			}
		},

		async earlier(): Promise<void> {
			const { conversation } = memory.get();
			if (conversation === null || cursor === null) return;
			try {
				const { data, next_cursor } = await requests.history(conversation, cursor);
				for (const message of data) transcript.merge(message);
				cursor = next_cursor;
				changed();
			} catch {
				note({ says: 'trouble' });
			}
		},

		/** Begins a new conversation. */
		restart(): void {
			const { conversation } = memory.get();
			// Nobody waits for its reply any more.
			if (conversation && busy()) requests.stop(conversation).catch(() => {});
			leave();
			forget();
			if (notice?.says !== 'limited') notice = jwt || !features.jwt_required ? null : { says: 'signIn' };
			update();
		},

		/** Tells who the visitor is, from now on. */
		identify(token: string): void {
			// Elsewhere nobody is known by a token, and conversations are kept without one.
			if (!features.jwt_required) return;
			jwt = token;
			const theirs = rememberedAt(deployment_id, jwt);
			const isSame = theirs.name === memory.name;
			const again = unidentified;
			// The same person's is kept: it may be nowhere but here.
			if (!isSame) {
				leave();
				memory = theirs;
				begun = false;
				shown = memory.get().conversation;
				loaded = shown === null;
			}
			unidentified = null;
			if (notice?.says === 'signIn') notice = null;
			if (again && isSame) void deliver(again);
			else if (active) this.look(true);
			update();
			void drain();
		},

		dismiss: () => note(null),

		destroy(): void {
			over = true;
			leave();
			clearTimeout(limited);
			removeEventListener('storage', elsewhere);
			removeEventListener('online', online);
			removeEventListener('offline', offline);
			document.removeEventListener('visibilitychange', update);
		},
	};
}

/** Made for one message; also where the page is not served over HTTPS, and `randomUUID` is not there. */
function newKey(): string {
	return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36).padStart(7, '0')).join('-');
}
