import type { ApiToolConfig, ToolAuth } from '../../contract/index.ts';
import { isHeaderValue, isSecretHeader } from '../headers.ts';
import { invalidArgument, type TemplateFiller } from '../placeholders.ts';
import { basicCredentials } from '../secret-redactor.ts';

/** The Accept header where the tool has none. */
const DEFAULT_ACCEPT = 'application/json, text/*;q=0.9, */*;q=0.1';

/**
 * The headers of a call by lower-case name, with those of its authentication. A header with a missing argument is omitted;
 * secret headers are sent as they are.
 * @param config opened
 * @throws ToolFailure `invalid_arguments` for an argument that is not valid in a header
 */
export function fillHeaders(
	{ headers, auth }: Pick<ApiToolConfig, 'headers' | 'auth'>,
	filler: TemplateFiller,
): Record<string, string> {
	const filled: Record<string, string> = { accept: DEFAULT_ACCEPT, 'user-agent': 'Parley' };
	for (const [name, template] of Object.entries(headers)) {
		const value = isSecretHeader(name) ? template : filler.fillText(template, requireHeaderText);
		if (value !== undefined) filled[name.toLowerCase()] = value;
	}
	return { ...filled, ...authHeader(auth) };
}

function requireHeaderText(text: string, name: string): string {
	if (!isHeaderValue(text)) throw invalidArgument(name, 'has characters that a header cannot hold');
	return text;
}

function authHeader(auth: ToolAuth): Record<string, string> {
	switch (auth.type) {
		case 'none':
			return {};
		case 'bearer':
			return { authorization: `Bearer ${auth.token}` };
		case 'basic':
			return { authorization: `Basic ${basicCredentials(auth)}` };
		case 'header':
			return { [auth.name.toLowerCase()]: auth.value };
	}
}
