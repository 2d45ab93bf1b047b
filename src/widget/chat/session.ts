import type { WidgetConfig } from '../../contract/index.ts';
import type { WidgetEvents } from '../public.d.ts';
import type { StreamEvent } from '../transport/event-stream.ts';
import { createRequests } from '../transport/requests.ts';
import { createConversation, type Told } from './conversation.ts';
import { createDelivery } from './delivery.ts';
import { createFollowing } from './following.ts';
import type { Heard } from './heard.ts';
import { createJudge } from './judge.ts';
import { createNotices, type Notice } from './notices.ts';

export interface SessionOptions {
	base: string;
	config: WidgetConfig;
	/** Whether a person was to answer, on the page before this one. */
	expected: boolean;
	/** Whether a person is to answer has changed. */
	onExpected(is: boolean): void;
	/** Something that is shown has changed. */
	changed(): void;
	/** Something happened that those who cannot see it must hear. */
	heard(what: Heard): void;
	emit<E extends keyof WidgetEvents>(event: E, detail: WidgetEvents[E]): void;
}

/** A message that is unanswered for so long waits for a person: a model's reply begins with the message. */
const PERSON_MS = 1_000;

/** What a chat knows and does, without any looks. */
export type Session = ReturnType<typeof createSession>;

/** One visitor's conversation: sends what they write, and follows what the server tells. */
export function createSession({ base, config, expected, onExpected, changed, heard, emit }: SessionOptions) {
	const { deployment_id, features } = config;
	const { streaming, jwt_required } = features;
	const life = new AbortController();
	const { signal } = life;
	let jwt: string | null = null;
	let isLookedAt = false;
	let hasBegun = false;
	/** A person is to answer, as the visitor is told. */
	let awaitsPerson = false;
	let awaiting = 0;
	/** In this conversation. */
	let stay = new AbortController();

	const requests = createRequests({ base, deploymentId: deployment_id, token: () => jwt });
	const conversation = createConversation(deployment_id);
	const { transcript } = conversation;
	const notices = createNotices(jwt_required ? { says: 'signIn' } : null, (says) => {
		if (says) heard({ says });
		changed();
	});
	const judge = createJudge({ requests, conversation, notices, signal, drain: () => delivery.drain(), emit });

	/** Follows the conversation while somebody looks at it, or is to hear of it, and no message is being sent. */
	const update = () => {
		// Until it is known who is here, and what was said, it is as it was on the page before.
		const isKnown = !notices.is('signIn') && conversation.isLoaded();
		const awaits = delivery.isExpecting() || (isKnown ? conversation.awaitsPerson() : expected);
		if (awaits !== expected) onExpected(awaits);
		expected = awaits;
		const isSeen = (isLookedAt || awaits) && !document.hidden;
		following.want(
			!signal.aborted &&
				!delivery.isUnderWay() &&
				!notices.isBlocking() &&
				conversation.id() !== null &&
				(isSeen || transcript.isWriting()),
		);
		watchForPerson(isKnown && !delivery.busy() && conversation.isUnanswered());
		changed();
	};
	const watchForPerson = (is: boolean) => {
		if (is && (awaiting || awaitsPerson)) return;
		clearTimeout(awaiting);
		awaiting = 0;
		awaitsPerson = false;
		if (!is) return;
		awaiting = setTimeout(() => {
			awaiting = 0;
			awaitsPerson = true;
			heard({ says: 'awaiting' });
			changed();
		}, PERSON_MS) as unknown as number;
	};
	const tell = ({ begun, ended }: Told) => {
		if (begun) heard({ says: 'writing' });
		if (!ended) return delivery.afterEvent(false);
		if (ended.status === 'failed') heard({ says: 'failed' });
		else {
			// Answered: it need not be sent again. The one that failed is kept, for the same message to be answered anew.
			if (ended.author.type === 'model') conversation.keep(null);
			heard({ reply: transcript.get(ended.id) });
		}
		emit('message', { message: ended });
		delivery.afterEvent(true);
	};
	const hear = (event: StreamEvent) => {
		tell(conversation.hear(event));
		update();
	};
	const load = async (id: string, until?: AbortSignal) => {
		const page = await requests.history(id, null, until);
		if (until?.aborted) return;
		conversation.take(page).forEach(tell);
		update();
	};
	const common = { requests, conversation, notices, judge, emit, streaming, hear, load };
	const delivery = createDelivery({ ...common, heard, update });
	const following = createFollowing({ ...common, changed });

	/** Ends what goes on; the conversation stays where it is. */
	const leave = () => {
		stay.abort();
		stay = new AbortController();
		delivery.leave();
		following.stop();
	};
	/** Takes up what the page before this one left. */
	const begin = () => {
		if (hasBegun || notices.isBlocking()) return;
		hasBegun = true;
		delivery.resume();
	};
	/** Asks for something that is of no use any more once the conversation is left; the visitor is told where it fails. */
	const inPassing = async (ask: (stay: AbortSignal) => Promise<unknown>): Promise<boolean> => {
		const { signal } = stay;
		try {
			await ask(signal);
			return true;
		} catch (error) {
			if (!signal.aborted) await judge.tellWhy(error);
			return false;
		}
	};

	addEventListener('online', () => notices.drop('offline'), { signal });
	addEventListener('offline', () => notices.disconnected(), { signal });
	/** Tabs of one visitor are in one conversation. */
	const onStorage = (event: StorageEvent) => {
		if (delivery.isUnderWay() || !conversation.isElsewhere(event)) return;
		leave();
		conversation.change();
		notices.drop('closed');
		update();
	};
	addEventListener('storage', onStorage, { signal });
	document.addEventListener('visibilitychange', update, { signal });

	return {
		messages: transcript.list,
		memoryName: conversation.memoryName,
		notice(): Notice | null {
			if (delivery.isFull() && !notices.isBlocking()) return { says: 'full' };
			return notices.current() ?? (awaitsPerson ? { says: 'awaiting' } : null);
		},
		isBlocked: notices.isBlocking,
		isBusy: delivery.busy,
		/** Whether the messages of before are still to come. */
		isLoading: () => !conversation.isLoaded(),
		hasOlder: () => conversation.older() !== null,
		/** @returns false where too much waits already: then it is not sent */
		send(text: string): boolean {
			begin();
			if (delivery.isFull()) return false;
			delivery.send(text);
			return true;
		},
		retryMessage: delivery.retry,
		cancelMessage: delivery.cancel,
		stopReply: delivery.stop,

		/** Somebody looks at the chat, or does not any more. */
		look(isLooking: boolean): void {
			isLookedAt = isLooking;
			if (isLooking && notices.is('signIn')) emit('unauthorized', {});
			// What the page before did not send is sent also where the chat stays closed.
			if (isLooking || conversation.hasUnsent()) begin();
			update();
		},

		async rateReply(id: string, rating: 'up' | 'down'): Promise<void> {
			const message = transcript.get(id);
			if (!message) return;
			const next = message.feedback === rating ? null : rating;
			transcript.change(id, { feedback: next, thanked: undefined });
			changed();
			if (!(await inPassing((stay) => requests.rate(id, next, stay)))) {
				transcript.change(id, { feedback: message.feedback });
				changed();
			} else if (next) {
				transcript.change(id, { thanked: next === 'down' ? 'ask' : 'done' });
				heard({ says: 'thanks' });
			}
		},

		/** Says why a reply was not helpful. */
		async giveReason(id: string, comment: string): Promise<void> {
			if (!(await inPassing((stay) => requests.rate(id, 'down', stay, comment)))) return;
			transcript.change(id, { thanked: 'done' });
			heard({ says: 'thanks' });
		},

		async loadOlder(): Promise<void> {
			const id = conversation.id();
			const cursor = conversation.older();
			if (id === null || cursor === null) return;
			await inPassing(async (stay) => {
				const page = await requests.history(id, cursor, stay);
				// Somebody else may have come, who has another one.
				if (!stay.aborted) conversation.takeOlder(page);
			});
			changed();
		},

		/**
		 * Begins a new conversation.
		 * @returns what the visitor wrote for the one before that was not sent
		 */
		startAnew(): string[] {
			const shown = new Set(transcript.list().map((message) => message.id));
			const elsewhere = conversation.queued().filter(({ key }) => !shown.has(key));
			const unsent = [...delivery.unsentTexts(), ...elsewhere.map(({ content }) => content)];
			const id = conversation.id();
			// Nobody waits for its reply any more.
			if (id && delivery.busy()) requests.stop(id).catch(() => {});
			leave();
			conversation.clear();
			conversation.forget();
			conversation.dropQueue();
			notices.clear();
			update();
			return unsent;
		},

		/**
		 * Tells who the visitor is, from now on.
		 * @returns whether somebody was here before who is another one
		 */
		identify(token: string): boolean {
			// Elsewhere nobody is known by a token, and conversations are kept without one. One that was refused stays so.
			if ((!jwt_required && jwt === null && !notices.is('signIn')) || token === jwt) return false;
			const wasNobody = jwt === null;
			jwt = token;
			const unsent = wasNobody ? delivery.unsentTexts() : [];
			// What nobody known could not send goes into the conversation of whoever they are, and not also by the next page.
			if (unsent.length) {
				conversation.keep(null);
				conversation.dropQueue();
			}
			const isAnother = conversation.changeTo(token);
			if (isAnother) {
				leave();
				notices.end();
				hasBegun = false;
				// Whoever waited was another one.
				if (!wasNobody) {
					expected = false;
					onExpected(expected);
				}
			}
			notices.drop('signIn');
			if (!delivery.identified()) begin();
			unsent.forEach(delivery.send);
			update();
			delivery.drain();
			return isAnother && !wasNobody;
		},

		destroy(): void {
			life.abort();
			clearTimeout(awaiting);
			leave();
			notices.end();
		},
	};
}
