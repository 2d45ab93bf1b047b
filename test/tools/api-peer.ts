import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { httpServer } from '../net/servers.ts';

/** What the peer was sent. */
export interface ApiRequest {
	method: string;
	/** Path and query, as sent. */
	url: string;
	headers: IncomingHttpHeaders;
	body: string;
}

/** Somebody's API. */
export interface ApiPeer extends AsyncDisposable {
	origin: string;
	requests: ApiRequest[];
	/** Connections that are open. */
	openConnections(): number;
	respond: (response: ServerResponse, request: ApiRequest) => void;
}

/** Starts an API that answers each request with the request’s content, until a test sets another response. */
export async function apiPeer(): Promise<ApiPeer> {
	let open = 0;
	const requests: ApiRequest[] = [];
	const server = await httpServer(async (request, response) => {
		if (request.socket.listenerCount('close', left) === 0) {
			open++;
			request.socket.on('close', left);
		}
		let body = '';
		for await (const chunk of request.setEncoding('utf8')) body += chunk;
		const { method = '', url = '', headers } = request;
		const seen = { method, url, headers, body };
		requests.push(seen);
		peer.respond(response, seen);
	});
	const left = () => {
		open--;
	};
	const peer: ApiPeer = {
		origin: server.origin,
		requests,
		openConnections: () => open,
		respond: (response, seen) => {
			response.setHeader('content-type', 'application/json').end(JSON.stringify(seen));
		},
		[Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
	};
	return peer;
}
