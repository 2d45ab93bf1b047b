import type { WidgetConfig } from '../../contract/index.ts';
import type { WidgetEvents } from '../public.d.ts';
import type { StreamEvent } from '../transport/event-stream.ts';
import { createRequests } from '../transport/requests.ts';
import { createConversation, type Told } from './conversation.ts';
import { createDelivery } from './delivery.ts';
import { createFollowing } from './following.ts';
import type { Heard } from './heard.ts';
import { createJudge } from './judge.ts';
import { createNotices } from './notices.ts';

export interface SessionOptions {
	base: string;
	config: WidgetConfig;
	/** Something that is shown has changed. */
	changed(): void;
	/** Something happened that those who cannot see it must hear. */
	heard(what: Heard): void;
	emit<E extends keyof WidgetEvents>(event: E, detail: WidgetEvents[E]): void;
}

/** What a chat knows and does, without any looks. */
export type Session = ReturnType<typeof createSession>;

/** One visitor's conversation: sends what they write, and follows what the server tells. */
export function createSession({ base, config, changed, heard, emit }: SessionOptions) {
	const { deployment_id, features } = config;
	const { streaming, jwt_required } = features;
	const life = new AbortController();
	const { signal } = life;
	let jwt: string | null = null;
	let isLookedAt = false;
	let hasBegun = false;

	const requests = createRequests({ base, deploymentId: deployment_id, token: () => jwt });
	const conversation = createConversation(deployment_id);
	const { transcript } = conversation;
	const notices = createNotices(jwt_required ? { says: 'signIn' } : null, (says) => {
		if (says) heard({ says });
		changed();
	});
	const judge = createJudge({ requests, conversation, notices, emit });

	/** Follows the conversation while somebody looks at it, or is to hear of it, and no message is on its way. */
	const update = () => {
		const isSeen = (isLookedAt || conversation.awaitsPerson()) && !document.hidden;
		following.want(
			!signal.aborted &&
				!delivery.isUnderWay() &&
				!notices.isBlocking() &&
				conversation.id() !== null &&
				(isSeen || transcript.isWriting()),
		);
		changed();
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
		delivery.leave();
		following.stop();
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
		notice: notices.current,
		isBlocked: notices.isBlocking,
		isBusy: delivery.busy,
		/** Whether the messages of before are still to come. */
		isLoading: () => !conversation.isLoaded(),
		hasOlder: () => conversation.older() !== null,
		send: delivery.send,
		retryMessage: delivery.retry,
		stopReply: delivery.stop,

		/** Somebody looks at the chat, or does not any more. */
		look(isLooking: boolean): void {
			isLookedAt = isLooking;
			if (isLooking && !hasBegun && !notices.isBlocking()) {
				hasBegun = true;
				delivery.resume();
			}
			update();
		},

		async rateReply(id: string, rating: 'up' | 'down'): Promise<void> {
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
				notices.note('trouble');
			}
		},

		async loadOlder(): Promise<void> {
			const id = conversation.id();
			const cursor = conversation.older();
			if (id === null || cursor === null) return;
			try {
				conversation.takeOlder(await requests.history(id, cursor));
				changed();
			} catch {
				notices.note('trouble');
			}
		},

		/** Begins a new conversation. */
		startAnew(): void {
			const id = conversation.id();
			// Nobody waits for its reply any more.
			if (id && delivery.busy()) requests.stop(id).catch(() => {});
			leave();
			conversation.clear();
			conversation.forget();
			notices.clear();
			update();
		},

		/** Tells who the visitor is, from now on. */
		identify(token: string): void {
			// Elsewhere nobody is known by a token, and conversations are kept without one.
			if (!jwt_required) return;
			jwt = token;
			if (conversation.changeTo(token)) {
				leave();
				hasBegun = false;
			}
			notices.drop('signIn');
			if (!delivery.identified() && isLookedAt) this.look(true);
			update();
			delivery.drain();
		},

		destroy(): void {
			life.abort();
			leave();
			notices.end();
		},
	};
}
