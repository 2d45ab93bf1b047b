import { useEffect, useRef } from 'preact/hooks';
import { BASE_URL } from '../../api/client.ts';

const TYPES = ['conversation.created', 'conversation.updated', 'conversation.closed', 'message.created'] as const;

/** Calls the listener with the id of each conversation in which something happens, while the page is shown. */
export function useLiveConversations(onChange: (conversationId: string) => void): void {
	const latest = useRef(onChange);
	latest.current = onChange;
	useEffect(() => {
		const stream = new EventSource(new URL(`api/v1/events?stream=true&types=${TYPES.join(',')}`, BASE_URL));
		for (const type of TYPES) {
			stream.addEventListener(type, ({ data }: MessageEvent<string>) => {
				const event = JSON.parse(data) as { data: { id: string; conversation_id?: string } };
				latest.current(event.data.conversation_id ?? event.data.id);
			});
		}
		return () => stream.close();
	}, []);
}
