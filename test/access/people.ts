import assert from 'node:assert/strict';
import type { FirstStartSecrets } from '../../src/access/index.ts';
import type { Role } from '../../src/contract/index.ts';
import { type ApiResponse, startTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';

/** A password that the rules accept. */
export const PASSWORD = 'four ducks on a pond';

/** A browser's cookies: stores them from responses and sends them with requests. */
export interface CookieClient {
	/** The value of the session's cookie; null where it has none. */
	cookie: string | null;
	/** Calls as a page of the server does. */
	call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>;
}

/** A browser without any cookie. */
export function openCookieClient({ url }: { url: string }): CookieClient {
	const browser: CookieClient = {
		cookie: null,
		async call(method, path, body, headers) {
			const cookie: Record<string, string> =
				browser.cookie === null ? {} : { cookie: `theme=dark; parley_session=${browser.cookie}` };
			const answer = await request(url, method, path, body, { origin: url, ...cookie, ...headers });
			for (const set of answer.headers.getSetCookie()) {
				const [, value] = /^parley_session=([^;]*)/.exec(set) ?? [];
				if (value !== undefined) browser.cookie = value === '' ? null : value;
			}
			return answer;
		},
	};
	return browser;
}

/** A request with only the given headers. */
export async function request(
	url: string,
	method: string,
	path: string,
	body?: unknown,
	headers: Record<string, string> = {},
): Promise<ApiResponse> {
	const response = await fetch(url + path, {
		method,
		headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
		...(body === undefined ? {} : { body: JSON.stringify(body) }),
	});
	const text = await response.text();
	const isLines = response.headers.get('content-type') === 'application/jsonl';
	const parsed = text === '' || isLines ? text || undefined : JSON.parse(text);
	return { status: response.status, headers: response.headers, body: parsed };
}

/** A server on which the first owner has set a password. */
export interface AppWithUsers extends AsyncDisposable {
	app: TestApp;
	/** Signs a user in. */
	signIn(email: string, password?: string, more?: object): Promise<CookieClient>;
	/** The first owner, signed in. */
	owner: CookieClient;
}

/** The first owner's email. */
export const OWNER = 'owner@localhost';

/** Starts a server, sets the owner's password, and signs the owner in. */
export async function startAppWithUsers(options: TestAppOptions = {}): Promise<AppWithUsers> {
	let first: FirstStartSecrets | undefined;
	const app = await startTestApp({
		...options,
		overrides: {
			onFirstStart: (made) => {
				first = made;
			},
			...options.overrides,
		},
	});
	assert.ok(first);
	await setPassword(app, first.passwordToken);
	const signIn = async (email: string, password = PASSWORD, more = {}) => {
		const browser = openCookieClient(app);
		const { status, body } = await browser.call('POST', '/api/v1/session', { email, password, ...more });
		assert.equal(status, 201, JSON.stringify(body));
		return browser;
	};
	return {
		app,
		signIn,
		owner: await signIn(OWNER),
		[Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
	};
}

/** Sets the password of a link's user. */
export async function setPassword(app: { url: string }, token: string, password = PASSWORD): Promise<ApiResponse> {
	const answer = await request(app.url, 'POST', '/api/v1/session/password', { token, password });
	assert.equal(answer.status, 200, JSON.stringify(answer.body));
	return answer;
}

/** The token in a link for setting a password. */
export function tokenOf(link: string): string {
	return link.slice(link.indexOf('#') + 1);
}

/** Creates a user with a password through the API. */
export async function addUser(app: TestApp, email: string, role: Role, key = app.key): Promise<string> {
	const made = await app.call('POST', '/api/v1/users', { email, role }, { authorization: `Bearer ${key}` });
	assert.equal(made.status, 201, JSON.stringify(made.body));
	await setPassword(app, tokenOf(made.body.password_link));
	return made.body.id;
}

/** Asserts an error by its status and code, and that its message is a sentence. */
export function assertRefused(answer: ApiResponse, status: number, code: string, what = ''): void {
	assert.deepEqual([answer.status, answer.body?.error?.code], [status, code], `${what} ${JSON.stringify(answer.body)}`);
	assert.match(answer.body.error.message, /^\S.*\.$/, 'the message is a sentence');
}
