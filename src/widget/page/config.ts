import type { WidgetConfig } from '../../contract/index.ts';

const TIMEOUT_MS = 20_000;

/** The configuration could not be had. */
export class ConfigError extends Error {
	constructor(
		/** The status of the server's answer; 0 where it was not reached. */
		readonly status: number,
		/** As in the API's errors; `unreachable` where there was no answer, or none of the API. */
		readonly code: string,
	) {
		super(code);
	}
}

/**
 * Asks the server for a deployment's configuration.
 * @throws ConfigError
 */
export async function fetchConfig(base: string, deploymentId: string): Promise<WidgetConfig> {
	let status = 0;
	let code = 'unreachable';
	try {
		const response = await fetch(`${base}api/v1/widget/config?deployment_id=${encodeURIComponent(deploymentId)}`, {
			credentials: 'omit',
			// The server decides by the page's origin, whatever the page's policy is. The page's path stays private.
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
