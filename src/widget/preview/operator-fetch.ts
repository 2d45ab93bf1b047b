import type { WidgetPeople } from '../../contract/index.ts';
import type { PersonRequest } from '../chat/person-module.ts';
import type { ChatFetch } from '../page/config.ts';

const VISITOR_API = 'api/v1/widget/';
const OPERATOR_API = 'api/v1/';

/**
 * Sends the chat's requests to the API of operators, which has the same operations below another path. The operator's session admits
 * them; the allowlist and the routes of visitors have no part in it.
 * @param base the address of the server, with a slash at its end
 */
export function createOperatorFetch(base: string, deploymentId: string): ChatFetch {
	return async (visitorUrl, { headers, body, ...init }) => {
		const url = new URL(visitorUrl.replace(base + VISITOR_API, base + OPERATOR_API));
		if (url.pathname.endsWith('/request-person')) return personRequested(JSON.parse(String(body)));
		url.searchParams.delete('deployment_id');
		return fetch(url, {
			...init,
			headers: operatorHeaders(headers),
			...(body === undefined || body === null ? {} : { body: operatorBody(url.pathname, String(body), deploymentId) }),
			credentials: 'same-origin',
		});
	};
}

/** The preview calls no person and stores no request: it answers as if no person of the workspace were there. */
function personRequested({ withdraw = false, email }: PersonRequest): Response {
	const people: WidgetPeople = {
		handled_by: 'model',
		person: null,
		requested_person_at: withdraw ? null : new Date().toISOString(),
		people_available: withdraw ? null : false,
		has_email: email !== undefined,
	};
	return Response.json(people);
}

/** A visitor's token would be taken for an API key. */
function operatorHeaders(headers: HeadersInit | undefined): Headers {
	const kept = new Headers(headers);
	kept.delete('authorization');
	return kept;
}

/** Only messages name the deployment. A conversation that begins here is marked. */
function operatorBody(path: string, body: string, deploymentId: string): string {
	const { deployment_id: _, ...rest } = JSON.parse(body) as Record<string, unknown>;
	if (!path.endsWith('/api/v1/messages')) return JSON.stringify(rest);
	const mark = rest.conversation_id === undefined ? { metadata: { preview: true } } : {};
	return JSON.stringify({ ...rest, ...mark, deployment_id: deploymentId });
}
