import type { WidgetConfig } from '../../contract/index.ts';

const TIMEOUT_MS = 20_000;

/** The configuration could not be loaded. */
export class ConfigError extends Error {
	constructor(
		/** The HTTP status; 0 if the server was not reached. */
		readonly status: number,
		/** As in the API's errors; `unreachable` if there was no response, or not one from the API. */
		readonly code: string,
	) {
		super(code);
	}
}

/** Where a widget's configuration comes from, and how its chat sends requests. The dashboard's preview has another one. */
export interface WidgetSource {
	/** @throws ConfigError */
	fetchConfig(base: string, deploymentId: string): Promise<WidgetConfig>;
	/** Calls the listener with each later configuration. */
	onChanged?(listener: (config: WidgetConfig) => void): void;
	/** Sends the chat's requests in place of the browser's `fetch`. */
	fetch?: ChatFetch;
}

/** The part of `fetch` that the chat uses. */
export type ChatFetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Requests a deployment's configuration from the server.
 * @throws ConfigError
 */
export async function fetchConfig(base: string, deploymentId: string): Promise<WidgetConfig> {
	let status = 0;
	let code = 'unreachable';
	try {
		const response = await fetch(`${base}api/v1/widget/config?deployment_id=${encodeURIComponent(deploymentId)}`, {
			credentials: 'omit',
			// The server checks the page's origin, so it is sent whatever the page's referrer policy is. The path stays private.
			referrerPolicy: 'origin',
			signal: AbortSignal.timeout(TIMEOUT_MS),
		});
		status = response.status;
		const body = await response.json();
		if (response.ok) return body;
		code = body.error.code;
	} catch {}
	throw new ConfigError(status, code);
}
