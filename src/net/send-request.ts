import { type Dispatcher, request } from 'undici';
import { rejectOnAbort } from '../base/index.ts';
import type { ExchangeAbort } from './exchange-abort.ts';
import type { OutgoingRequest } from './redirect.ts';

/** Sends one request and waits for the head of its answer. Redirects are answers like any other. */
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

/** The value of an answer's header; of a repeated one the first. */
export function firstHeader(response: Dispatcher.ResponseData, name: string): string | undefined {
	const value = response.headers[name];
	return Array.isArray(value) ? value[0] : value;
}

/** An answer's headers by lower-case name, repeated ones joined by a comma. Cookies are left out. */
export function flatHeaders(response: Dispatcher.ResponseData): Record<string, string> {
	const flat: Record<string, string> = {};
	for (const [name, value] of Object.entries(response.headers)) {
		if (value !== undefined && name !== 'set-cookie') flat[name] = Array.isArray(value) ? value.join(', ') : value;
	}
	return flat;
}

/** Closes a connection whose answer is not read. */
export function discardBody(body: Dispatcher.ResponseData['body']): void {
	body.on('error', () => {});
	body.destroy();
}

/** What the codes of node:net, node:dns, node:tls and undici mean to the one who gave the URL. */
const SENTENCES: ReadonlyArray<readonly [codes: RegExp, sentence: (host: string) => string]> = [
	[/^(ENOTFOUND|EAI_)/, (host) => `The name ${host} cannot be resolved.`],
	[/CERT|^ERR_TLS_|^EPROTO$|ERR_SSL/, (host) => `No trusted TLS connection to ${host} could be made.`],
	[
		/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/,
		(host) => `Could not connect to ${host}.`,
	],
];

/** Why there is no connection, as a sentence; undefined where there was one, which broke. */
export function connectionFailure(thrown: unknown, { host }: URL): string | undefined {
	const code = String((thrown as { code?: unknown } | null)?.code ?? '');
	return SENTENCES.find(([codes]) => codes.test(code))?.[1](host);
}
