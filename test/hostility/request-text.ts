import { request } from '../support/server-process.ts';
import { ORIGIN, type Target } from './target.ts';

/** Headers, as lines. */
export const jsonHeader = 'Content-Type: application/json';
export const pageHeader = `Origin: ${ORIGIN}`;
export const keyHeader = (key: string) => `Authorization: Bearer ${key}`;

/** A request as it is sent. @param content the body, as JSON; absent: none, and no length */
export function httpRequest(method: string, path: string, headers: readonly string[], content?: unknown): string {
	const body = content === undefined ? '' : JSON.stringify(content);
	const length = content === undefined ? [] : [`Content-Length: ${body.length}`];
	return [`${method} ${path} HTTP/1.1`, 'Host: a', ...headers, ...length, '', body].join('\r\n');
}

/** A request with a chunk for each character of its body, and without the end of the body. */
export function chunkedRequest(method: string, path: string, headers: readonly string[], body: string): string {
	const head = [`${method} ${path} HTTP/1.1`, 'Host: a', ...headers, 'Transfer-Encoding: chunked', '', ''].join('\r\n');
	return head + body.replace(/./g, '1\r\n$&\r\n');
}

export function get(path: string, headers: readonly string[] = []): string {
	return httpRequest('GET', path, headers);
}

/** A message with the key of the attack. */
export function messageOf({ hostileKey, deployment }: Target, fields: object): string {
	const message = { deployment_id: deployment, ...fields };
	return httpRequest('POST', '/api/v1/messages', [keyHeader(hostileKey), jsonHeader], message);
}

/** For each conversation of the target: a request to follow it, with the key of the attack. */
export function followersOf({ hostileKey, conversations }: Target): string[] {
	const headers = [keyHeader(hostileKey), 'Accept: text/event-stream'];
	return conversations.map((id) => get(`/api/v1/conversations/${id}/events`, headers));
}

/** Starts a conversation of the visitor at the attacker's address. @returns its id */
export async function startConversation({ server }: Target, deployment_id: string): Promise<string> {
	const message = { deployment_id, content: 'Hello?' };
	const { status, body } = await request(`${server.url}/api/v1/widget/messages`, 'POST', { origin: ORIGIN }, message);
	if (status !== 201) throw new Error(`A visitor's message was refused: ${JSON.stringify(body)}`);
	return body.conversation_id;
}
