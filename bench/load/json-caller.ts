import type { ApiClient } from './deploy.ts';

const CALL_TIMEOUT_MS = 30_000;

/** Calls a server on this machine, with an API key and JSON. */
export function jsonCaller(port: number, key: string): ApiClient {
	return {
		port,
		key,
		async call(method, path, body) {
			const response = await fetch(`http://127.0.0.1:${port}${path}`, {
				method,
				headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
				body: JSON.stringify(body),
				signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
			});
			return { status: response.status, body: await response.json() };
		},
	};
}
