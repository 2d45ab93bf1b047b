import { type ApiToolConfig, HIDDEN_SECRET, type ToolRequest } from '../../contract/index.ts';
import { isSecretHeader } from '../headers.ts';
import { TemplateFiller } from '../placeholders.ts';
import { truncateResult } from '../result-text.ts';
import type { SecretRedactor } from '../secret-redactor.ts';
import type { ToolCallContext } from '../tool-function.ts';
import { fillBody } from './fill-body.ts';
import { fillHeaders } from './fill-headers.ts';
import { fillUrl } from './fill-url.ts';

/** A request to an API, its placeholders filled in. It has the secrets of the tool. */
export interface ApiRequest {
	method: ApiToolConfig['method'];
	url: URL;
	/** By lower-case name. */
	headers: Record<string, string>;
	/** JSON; null: none. */
	body: string | null;
}

/**
 * The request of a call with valid arguments.
 * @param config opened
 * @throws ToolFailure `invalid_arguments` for an argument that is not valid at its position
 */
export function fillRequest(
	config: ApiToolConfig,
	args: Record<string, unknown>,
	{ key, traceHeaders }: ToolCallContext,
): ApiRequest {
	const filling = new TemplateFiller(config.parameters, args);
	const body = fillBody(config.body, filling);
	const headers = { ...traceHeaders, ...idempotencyHeader(config, key), ...fillHeaders(config, filling) };
	const hasBody = config.body !== null && body !== undefined;
	return {
		method: config.method,
		url: fillUrl(config, filling),
		headers: hasBody ? { 'content-type': 'application/json', ...headers } : headers,
		body: hasBody ? JSON.stringify(body) : null,
	};
}

/** A request for people who try a tool out: without its secrets. */
export function presentRequest(
	{ method, url, headers, body }: ApiRequest,
	{ auth }: Pick<ApiToolConfig, 'auth'>,
	redactor: SecretRedactor,
): ToolRequest {
	const secretHeader = auth.type === 'header' ? auth.name.toLowerCase() : 'authorization';
	const shownHeaders = Object.entries(headers).map(([name, value]) => {
		const isSecret = name === secretHeader || isSecretHeader(name);
		return [name, isSecret ? HIDDEN_SECRET : redactor.redact(value)];
	});
	return {
		method,
		url: redactor.redact(url.href),
		headers: Object.fromEntries(shownHeaders),
		body: body === null ? null : truncateResult(redactor.redact(body)),
	};
}

/**
 * The header by which an API recognises a repeat (draft-ietf-httpapi-idempotency-key-header). Safe methods (RFC 9110, 9.2.1)
 * need none.
 */
function idempotencyHeader({ method }: Pick<ApiToolConfig, 'method'>, key: string): Record<string, string> {
	return method === 'GET' ? {} : { 'idempotency-key': key };
}
