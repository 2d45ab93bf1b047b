import assert from 'node:assert/strict';
import type { TestIssuer } from '../access/identity-provider.ts';
import { totpCode } from '../access/totp.ts';
import type { DescribedOperation } from '../support/openapi.ts';
import { until } from '../support/until.ts';
import type { ApiResponse, Parts } from './requests.ts';

// Facts that the API's description does not contain: how to create resources that no POST of a list creates, and bodies that
// need particular values. A new operation needs an entry here only if a test asks for it.

/** The creator of resources: see `Tenant`. */
interface ResourceMaker {
	readonly key: string;
	/** The server's address. */
	readonly url: string;
	readonly issuer: TestIssuer;
	operation(id: string): DescribedOperation;
	call(operation: DescribedOperation, parts: Parts): Promise<ApiResponse>;
	done(id: string, parts: Parts): Promise<ApiResponse['body']>;
	make(thing: string, parents?: Record<string, string>): Promise<string>;
	standing(thing: string): Promise<string>;
}

let made = 0;
const unique = () => `${++made}${Date.now().toString(36)}`;

const ORIGIN = { origin: 'https://shop.example' };

/** Creates the resource that an id names, by the path before the id. */
export const RESOURCE_MAKERS: Record<
	string,
	(tenant: ResourceMaker, parents: Record<string, string>) => Promise<string>
> = {
	'/api/v1/assistants/{id}/knowledge-bases/{kb_id}': async (tenant, path) => {
		const knowledge_base_id = await tenant.make('/api/v1/knowledge-bases/{id}');
		await tenant.done('attachKnowledgeBase', { path, body: { knowledge_base_id } });
		return knowledge_base_id;
	},
	'/api/v1/assistants/{id}/tools/{tool_id}': async (tenant, path) => {
		const tool_id = await tenant.make('/api/v1/tools/{id}');
		await tenant.done('attachTool', { path, body: { tool_id } });
		return tool_id;
	},
	'/api/v1/knowledge-bases/{id}/documents/{doc_id}': async (tenant, path) => {
		const body = { source_type: 'text', title: 'Opening hours', content: `The shop opens at ten. ${unique()}` };
		const { id: doc_id } = await tenant.done('addDocument', { path, body });
		// Until it is indexed it changes, and its ETag too.
		await until('the document is indexed', async () => {
			const { status } = await tenant.done('getDocument', { path: { ...path, doc_id } });
			return status === 'indexed' || status === 'error';
		});
		return doc_id;
	},
	'/api/v1/knowledge-bases/{id}/sources/{source_id}': async (tenant, path) => {
		const body = { type: 'website', url: 'https://shop.example/' };
		const { id: source_id } = await tenant.done('createSource', { path, body });
		// During a run it changes, and its ETag too.
		await tenant.done('pauseSource', { path: { ...path, source_id } });
		return source_id;
	},
	'/api/v1/conversations/{id}': async (tenant) => {
		const deployment_id = await tenant.standing('/api/v1/deployments/{id}');
		const { conversation_id } = await tenant.done('sendMessage', { body: { deployment_id, content: 'Hello' } });
		// A human may send a message only after a takeover. All other operations work after one, too.
		await tenant.done('takeOverConversation', { path: { id: conversation_id } });
		return conversation_id;
	},
	'/api/v1/webhooks/{id}/deliveries/{delivery_id}': async (tenant, path) => {
		const body = { deployment_id: await tenant.standing('/api/v1/deployments/{id}'), content: 'Hello' };
		await tenant.done('sendMessage', { body });
		const { data } = await tenant.done('listDeliveries', { path });
		return data[0].id;
	},
	'/api/v1/stats/unanswered/{id}': async (tenant) => {
		const content = `Where is the ${unique()}?`;
		await tenant.done('sendMessage', {
			body: { deployment_id: await tenant.standing('/api/v1/deployments/{id}'), content },
		});
		let id = '';
		await until('the question is listed', async () => {
			const { data } = await tenant.done('listUnanswered', { query: { limit: '100' } });
			id = data.find(({ question }: { question: string }) => question === content)?.id ?? '';
			return id !== '';
		});
		return id;
	},
	'/api/v1/sessions/{id}': async (tenant) =>
		(await tenant.done('createSession', { body: await sessionOwner(tenant) })).id,
	'/api/v1/widget/conversations/{id}': async (tenant) => {
		const deployment_id = await tenant.standing('/api/v1/deployments/{id}');
		const body = { deployment_id, content: 'Hello' };
		return (await tenant.done('sendWidgetMessage', { body, headers: ORIGIN })).conversation_id;
	},
};

/** The resource of a field that ends in `_id`, if it differs from the field's name; null: no resource of Parley. */
export const ID_FIELDS: Record<string, string | null> = {
	assignee_id: '/api/v1/users/{id}',
	document_id: '/api/v1/knowledge-bases/{id}/documents/{doc_id}',
	end_user_id: null,
	last_event_id: null,
	// Optional for people with one account; signing in selects the account by the password.
	workspace_id: null,
};

/** Required parameters of queries that name no resource of Parley. */
export const QUERY_VALUES: Record<string, string> = { end_user_id: 'customer-4711' };

/** A user of the tenant's workspace, with email and password. */
async function person(tenant: ResourceMaker): Promise<{ email: string; password: string }> {
	const { email, token } = await invited(tenant);
	const password = `correct horse ${unique()}`;
	await tenant.done('setPassword', { body: { token, password } });
	return { email, password };
}

const sessionOwners = new WeakMap<ResourceMaker, Promise<{ email: string; password: string }>>();

/** The user of a tenant's sessions: users see and end their own sessions only. */
function sessionOwner(tenant: ResourceMaker): Promise<{ email: string; password: string }> {
	const owner = sessionOwners.get(tenant) ?? person(tenant);
	sessionOwners.set(tenant, owner);
	return owner;
}

async function invited(tenant: ResourceMaker): Promise<{ email: string; token: string }> {
	const body = { email: `person-${unique()}@example.com`, role: 'owner' };
	const { email, password_link } = await tenant.done('createUser', { body });
	return { email, token: new URL(password_link).hash.slice(1) };
}

/** Members of bodies whose values must be unique. */
export const UNIQUE_VALUES: Record<string, () => string> = {
	shortcut: unique,
	email: () => `person-${unique()}@example.com`,
};

/** Operations that ignore unknown query parameters: a cache-buster must not break a page. */
export const IGNORES_UNKNOWN_QUERY: readonly string[] = ['getWidgetConfig', 'getLiveness', 'getReadiness'];

/** Operations whose examples contain an invalid secret. */
export const EXAMPLES_WITH_SECRET: readonly string[] = [
	'setPassword',
	'beginTotp',
	'confirmTotp',
	'disableTotp',
	'continueSignIn',
];

/** The credentials of operations on the second factor, each of a person of its own: those of the newest body. */
const ownHeaders = new WeakMap<ResourceMaker, Map<string, Record<string, string>>>();

/** The headers that belong to the newest body of an operation; undefined where any credential will do. */
export function headersOfBody(tenant: ResourceMaker, operationId: string): Record<string, string> | undefined {
	return ownHeaders.get(tenant)?.get(operationId);
}

function keepHeaders(tenant: ResourceMaker, operationId: string, headers: Record<string, string>): void {
	const kept = ownHeaders.get(tenant) ?? new Map();
	ownHeaders.set(tenant, kept.set(operationId, headers));
}

/** A person with a session of the own. */
async function signedIn(tenant: ResourceMaker) {
	const body = await person(tenant);
	const response = await tenant.call(tenant.operation('createSession'), { body });
	const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? assert.fail('no cookie was set');
	// Wrong passwords and codes are limited by address.
	const n = ++made;
	const address = `10.200.${(n >> 8) & 255}.${n & 255}`;
	return { ...body, headers: { cookie, origin: tenant.url, 'x-forwarded-for': address } };
}

/** A person whose second factor waits for its first code. */
async function withTotpSecret(tenant: ResourceMaker) {
	const found = await signedIn(tenant);
	const body = { current_password: found.password };
	const { secret } = await tenant.done('beginTotp', { body, headers: found.headers });
	return { ...found, code: totpCode(secret, Date.now()) };
}

async function passwordOfOwnPerson(tenant: ResourceMaker, operationId: string) {
	const { password, headers } = await signedIn(tenant);
	keepHeaders(tenant, operationId, headers);
	return { current_password: password };
}

/** Bodies of operations whose example needs an existing resource, or a name that is not taken. */
export const BODIES: Record<string, (tenant: ResourceMaker) => Promise<unknown>> = {
	addDocument: async () => ({ source_type: 'text', title: 'Opening hours', content: 'The shop opens at ten.' }),
	createDeployment: async (tenant) => ({
		name: 'The shop',
		assistant_id: await tenant.standing('/api/v1/assistants/{id}'),
		allowed_domains: ['shop.example'],
		features: { handoff: true },
		rate_limit: { messages_per_minute: 10_000 },
	}),
	createSession: person,
	beginTotp: (tenant) => passwordOfOwnPerson(tenant, 'beginTotp'),
	disableTotp: (tenant) => passwordOfOwnPerson(tenant, 'disableTotp'),
	async confirmTotp(tenant) {
		const { code, headers } = await withTotpSecret(tenant);
		keepHeaders(tenant, 'confirmTotp', headers);
		return { code };
	},
	async continueSignIn(tenant) {
		const { email, password, code, headers } = await withTotpSecret(tenant);
		const { recovery_codes } = await tenant.done('confirmTotp', { body: { code }, headers });
		const first = await tenant.call(tenant.operation('createSession'), { body: { email, password } });
		assert.equal(first.body.error.code, 'second_factor_required');
		keepHeaders(tenant, 'continueSignIn', { cookie: first.headers.getSetCookie()[0]?.split(';')[0] ?? '' });
		return { code: recovery_codes[0] };
	},
	async finishOidcSignIn(tenant) {
		const login = `ada-${unique()}`;
		const email = `${login}@login.example`;
		tenant.issuer.people.set(login, { email, email_verified: true, groups: ['staff'] });
		const begun = await tenant.call(tenant.operation('beginOidcSignIn'), {});
		keepHeaders(tenant, 'finishOidcSignIn', { cookie: begun.headers.getSetCookie()[0]?.split(';')[0] ?? '' });
		return tenant.issuer.authenticate(begun.body.url, login);
	},
	setPassword: async (tenant) => ({ token: (await invited(tenant)).token, password: `correct horse ${unique()}` }),
};

/** The headers with the credential of each security scheme. */
export const CREDENTIALS: Record<string, (tenant: ResourceMaker) => Promise<Record<string, string>>> = {
	apiKey: async ({ key }) => ({ authorization: `Bearer ${key}` }),
	session: async (tenant) => {
		const response = await tenant.call(tenant.operation('createSession'), { body: await sessionOwner(tenant) });
		assert.equal(response.status, 201, JSON.stringify(response.body));
		const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? assert.fail('no cookie was set');
		return { cookie, origin: tenant.url };
	},
};
