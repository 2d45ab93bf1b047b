import { type Dispatcher, request } from 'undici';
import { rejectOnAbort } from '../base/index.ts';
import type { ExchangeAbort } from './exchange-abort.ts';
import type { OutgoingRequest } from './redirect.ts';

/** Sends one request and waits for the head of the response. A redirect is a response like any other. */
export async function sendRequest(
	dispatcher: Dispatcher,
	outgoing: OutgoingRequest,
	abort: ExchangeAbort,
): Promise<Dispatcher.ResponseData> {
	const { signal } = abort;
	signal.throwIfAborted();
	const { method, headers, body } = outgoing;
	const sent = request(outgoing.url, { dispatcher, signal, method: method as Dispatcher.HttpMethod, headers, body });
	// undici observes the signal only once there is a connection.
	return rejectOnAbort(sent, signal);
}

/** The value of a response's header; the first value of a repeated one. */
export function firstHeader(response: Dispatcher.ResponseData, name: string): string | undefined {
	const value = response.headers[name];
	return Array.isArray(value) ? value[0] : value;
}

/** The headers of a response by lower-case name, repeated ones joined by a comma, without cookies. */
export function flatHeaders(response: Dispatcher.ResponseData): Record<string, string> {
	const flat: Record<string, string> = {};
	for (const [name, value] of Object.entries(response.headers)) {
		if (value !== undefined && name !== 'set-cookie') flat[name] = Array.isArray(value) ? value.join(', ') : value;
	}
	return flat;
}

/** Closes the connection of a response that is not read to its end. */
export function discardBody(body: Dispatcher.ResponseData['body']): void {
	body.on('error', () => {});
	body.destroy();
}

/** Sentences for the error codes of node:net, node:dns, node:tls and undici, for the person who gave the URL. */
const SENTENCES: ReadonlyArray<readonly [codes: RegExp, sentence: (host: string) => string]> = [
	[/^(ENOTFOUND|EAI_)/, (host) => `The name ${host} cannot be resolved.`],
	[/CERT|^ERR_TLS_|^EPROTO$|ERR_SSL/, (host) => `No trusted TLS connection to ${host} could be made.`],
	[
		/^(EMFILE|ENFILE|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/,
		(host) => `Could not connect to ${host}.`,
	],
];

/** Why there is no connection, as a sentence; undefined if a connection existed and broke. */
export function connectionFailure(thrown: unknown, { host }: URL): string | undefined {
	const code = String((thrown as { code?: unknown } | null)?.code ?? '');
	return SENTENCES.find(([codes]) => codes.test(code))?.[1](host);
}
