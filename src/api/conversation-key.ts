import { isId } from '../base/index.ts';
import { operations } from '../contract/index.ts';
import type { HttpRequest, Route } from '../http/index.ts';

/** What concerns one conversation, for people and for visitors. */
const OF_CONVERSATION = /^\/api\/v1\/(widget\/)?conversations\/\{id\}(\/|$)/;
const SENDING_PATHS: ReadonlySet<string> = new Set([operations.sendMessage.path, operations.sendWidgetMessage.path]);
/** Larger bodies are refused by the route. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * The conversation that a request concerns, for the nodes of a cluster: all changes, and the event streams, are served by one node. What
 * is stored is read by any node. Null for the other routes.
 */
export function conversationKeyOf({
	method,
	path,
}: Route): ((request: HttpRequest) => string | null | Promise<string | null>) | null {
	if (method === 'POST' && SENDING_PATHS.has(path)) return continuedConversation;
	if (!OF_CONVERSATION.test(path) || method === 'OPTIONS') return null;
	return method === 'GET' && !path.endsWith('/events') ? null : ({ params }) => conversationId(params.id);
}

/** The conversation that a message continues; null for a message that begins one, and for a wrong body. */
async function continuedConversation(request: HttpRequest): Promise<string | null> {
	const bytes = await request.bytes(MAX_BODY_BYTES);
	request.restoreBody(bytes);
	const text = Buffer.from(bytes).toString();
	if (!text.includes('conversation_id')) return null;
	try {
		return conversationId((JSON.parse(text) as { conversation_id?: unknown } | null)?.conversation_id);
	} catch {
		return null;
	}
}

function conversationId(value: unknown): string | null {
	return typeof value === 'string' && isId('conversation', value) ? value : null;
}
