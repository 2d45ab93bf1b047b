import type { ServerResponse } from 'node:http';
import type { JWK } from 'jose';
import { httpServer, type TestServer } from '../net/servers.ts';

/** A host of a JSON Web Key Set with scripted responses. */
export interface KeySetServer extends AsyncDisposable {
	url: string;
	/** Requests so far. */
	requests: number;
	/** Handles the requests from now on. */
	answer: (response: ServerResponse) => void;
	/** Responds with a key set from now on. */
	serve(...keys: unknown[]): void;
}

export async function keySetServer(...keys: JWK[]): Promise<KeySetServer> {
	const host: TestServer = await httpServer((_request, response) => {
		served.requests++;
		served.answer(response);
	});
	const served: KeySetServer = {
		url: `${host.origin}/jwks.json`,
		requests: 0,
		answer: () => {},
		serve(...given) {
			served.answer = (response) => {
				response.setHeader('content-type', 'application/json');
				response.end(JSON.stringify({ keys: given }));
			};
		},
		[Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
	};
	served.serve(...keys);
	return served;
}
