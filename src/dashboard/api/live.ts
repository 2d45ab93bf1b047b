import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Resource } from './client.ts';
import { followEvents, type IncomingEvent } from './event-connection.ts';
import { queryClient } from './queries.ts';

/** What happens in the workspace, by type: the events of its log, and the notices of documents and knowledge bases. */
export interface LiveData {
	'conversation.created': Resource<'Conversation'>;
	'conversation.updated': Resource<'Conversation'>;
	'conversation.closed': Resource<'Conversation'>;
	'message.created': Resource<'Message'>;
	'assistant.updated': Resource<'Assistant'>;
	'knowledge_base.indexed': Resource<'KnowledgeBase'> & Resource<'IndexingStatus'>;
	'knowledge_base.updated': (Resource<'KnowledgeBase'> & Resource<'IndexingStatus'>) | { id: string; deleted: true };
	'document.updated': Resource<'Document'>;
	'webhook_delivery.updated': Resource<'Delivery'>;
	'budget.warning': Resource<'BudgetUse'>;
	'budget.reached': Resource<'BudgetUse'>;
	'tool.execution_failed': { tool_id: string; tool_name: string; conversation_id: string; error: string };
}
export type LiveType = keyof LiveData;
export type LiveEvent<T extends LiveType = LiveType> = { [K in T]: { type: K; data: LiveData[K] } }[T];

/** Whether the dashboard hears of changes. `connecting` only before the first connection. */
export const liveState = signal<'stopped' | 'connecting' | 'open' | 'lost'>('stopped');

type Listener = (event: LiveEvent) => void;
const listeners = new Map<string, Set<Listener>>();
let running: AbortController | null = null;

/**
 * Follows the workspace's events. What was shown is read again after each interruption.
 * @param onReconnect is called after each interruption
 */
export function startLive(onReconnect: () => void): void {
	stopLive();
	running = new AbortController();
	liveState.value = 'connecting';
	void followEvents(
		{
			onEvent: publish,
			onOpen(isFirst) {
				liveState.value = 'open';
				// Events are sent again after an interruption, notices are not.
				if (isFirst) return;
				onReconnect();
				void queryClient.invalidateQueries();
			},
			onLost() {
				liveState.value = 'lost';
			},
		},
		running.signal,
	);
}

/** Ends it: the session has ended. */
export function stopLive(): void {
	running?.abort();
	running = null;
	liveState.value = 'stopped';
}

function publish(event: IncomingEvent): void {
	for (const listener of [...(listeners.get(event.type) ?? [])]) listener(event as LiveEvent);
}

/** Calls the listener with each event of these types. Returns a function that ends this. */
export function onLive<T extends LiveType>(types: readonly T[], listener: (event: LiveEvent<T>) => void): () => void {
	for (const type of types) {
		const ofType = listeners.get(type) ?? new Set();
		listeners.set(type, ofType.add(listener as Listener));
	}
	return () => {
		for (const type of types) listeners.get(type)?.delete(listener as Listener);
	};
}

/** Calls the listener with each event of these types, while the component is shown. */
export function useLive<T extends LiveType>(types: readonly T[], listener: (event: LiveEvent<T>) => void): void {
	const latest = useRef(listener);
	latest.current = listener;
	useEffect(() => onLive(types, (event) => latest.current(event)), [types.join()]);
}

/** The least time between two loads that events cause (ms). */
const INVALIDATION_MS = 1_000;

/**
 * Loads data again when an event of these types arrives, while the component is shown: at once, and then at most once a second.
 * @param key the beginning of the keys of its queries
 * @param isAbout whether an event concerns them; default: each does
 */
export function useLiveQueries<T extends LiveType>(
	types: readonly T[],
	key: readonly unknown[],
	isAbout: (event: LiveEvent<T>) => boolean = () => true,
): void {
	const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
	const isDue = useRef(false);
	const reload = () => {
		isDue.current = false;
		void queryClient.invalidateQueries({ queryKey: key });
		timer.current = setTimeout(() => {
			timer.current = null;
			if (isDue.current) reload();
		}, INVALIDATION_MS);
	};
	useLive(types, (event) => {
		if (!isAbout(event)) return;
		if (timer.current === null) reload();
		else isDue.current = true;
	});
	useEffect(
		() => () => {
			if (timer.current !== null) clearTimeout(timer.current);
			timer.current = null;
		},
		[],
	);
}
