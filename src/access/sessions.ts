import { AppError, type Clock, newId, type SemaphoreQueue } from '../base/index.ts';
import type { SignIn } from '../contract/index.ts';
import {
	decideAndCommit,
	expectVersion,
	type SessionRecord,
	type Store,
	type UserRecord,
	type Write,
} from '../store/index.ts';
import type { DeviceCookies, KnownDevice } from './device-cookies.ts';
import type { Passwords } from './passwords.ts';
import { createToken, hashToken } from './secret-token.ts';
import { sessionCookie, sessionTokenIn } from './session-cookie.ts';
import { type Refund, SignInLimits } from './sign-in-limits.ts';
import { normaliseEmail, type Users } from './users.ts';

export interface SessionsOptions {
	store: Pick<Store, 'access' | 'commit' | 'get' | 'list'>;
	users: Pick<Users, 'findByEmail'>;
	passwords: Passwords;
	devices: DeviceCookies;
	clock: Clock;
	/** Whether browsers reach this server over https: then the cookie is sent over https only. */
	secure: boolean;
}

/** A session with its user. */
export interface UserSession {
	session: SessionRecord;
	user: UserRecord;
	/** The Set-Cookie header to send; null where the browser's cookie is current. */
	setCookie: string | null;
}

/** A new session. */
export interface NewSession extends UserSession {
	/** The Set-Cookie header that makes the browser a known device of the account. */
	deviceCookie: string;
}

/** Where a sign-in comes from. */
export interface SignInOrigin {
	/** The client's address. */
	address: string;
	/**
	 * The request's Cookie header. The new session replaces the browser's present one, and a device cookie shows that the browser
	 * has signed in before.
	 */
	cookies: string | undefined;
}

/** A sign-in that the limits allow. It counts as failed until it is refunded. */
interface SignInAttempt {
	/** The only account to try; null: all accounts of the email. */
	onlyUserId: string | null;
	/** Known devices do not wait behind guesses of unknown clients. */
	queue: SemaphoreQueue;
	refund: Refund;
}

const HOUR = 3_600_000;
const LIFETIME_MS = 14 * 24 * HOUR;
/** A session is renewed when this much of its lifetime has passed. */
const RENEW_AFTER_MS = HOUR;
/** Accounts whose password is tried where the sign-in names no workspace. */
const MAX_CANDIDATES = 3;
/** Sessions of one user. One more ends the oldest. */
const MAX_SESSIONS = 50;

/** Sessions of users. The browser holds a session's token in a cookie. */
export class Sessions {
	readonly #store: SessionsOptions['store'];
	readonly #users: SessionsOptions['users'];
	readonly #passwords: Passwords;
	readonly #devices: DeviceCookies;
	readonly #clock: Clock;
	readonly #secure: boolean;
	readonly #limits: SignInLimits;

	constructor({ store, users, passwords, devices, clock, secure }: SessionsOptions) {
		this.#store = store;
		this.#users = users;
		this.#passwords = passwords;
		this.#devices = devices;
		this.#clock = clock;
		this.#secure = secure;
		this.#limits = new SignInLimits(clock);
	}

	/** @throws AppError `unauthorized`, `rate_limit_exceeded`, `unavailable` */
	async signIn(credentials: SignIn, origin: SignInOrigin): Promise<NewSession> {
		const { refund, ...attempt } = await this.#countAttempt(credentials, origin);
		let userSession: UserSession | null;
		try {
			const user = await this.#verifiedAccount(credentials, attempt);
			userSession = user && (await this.#createSession(user, origin.cookies));
		} catch (error) {
			// The sign-in did not fail because of its password.
			refund();
			throw error;
		}
		if (!userSession) throw new AppError('unauthorized', 'The email or the password is wrong.');
		refund();
		return { ...userSession, deviceCookie: this.deviceCookie(userSession.user, origin.cookies) };
	}

	/**
	 * The Set-Cookie header that makes the browser a known device of an account that it has authenticated for.
	 * @param cookies the request's Cookie header
	 */
	deviceCookie(user: UserRecord, cookies: string | undefined): string {
		return this.#devices.issue(user, cookies);
	}

	/** The session of a request's cookie, renewed where it is due; null where there is no valid one. */
	async find(cookies: string | undefined): Promise<UserSession | null> {
		const token = sessionTokenIn(cookies);
		const session = token === null ? undefined : await this.#store.access.sessionByHash(hashToken(token));
		if (token === null || !session || session.expires_at <= this.#clock.now()) return null;
		const user = await this.#store.get('users', session.user_id);
		return user ? this.#renewed({ session, user, setCookie: null }, token) : null;
	}

	/**
	 * Ends a session.
	 * @returns the Set-Cookie header that removes the cookie
	 */
	async signOut(id: string): Promise<string> {
		await decideAndCommit(this.#store, async () => ({
			commit: { write: [{ op: 'remove', kind: 'sessions', id }] },
			result: undefined,
		}));
		return sessionCookie('', 0, this.#secure);
	}

	/**
	 * Counts a sign-in against its limit. A known device of an account may always try that account, within the device's own limit. On
	 * a server with several workspaces, a sign-in that names none also tries accounts of other workspaces. Those attempts stay under
	 * the limit for unknown clients: otherwise a user could guess other accounts' passwords through the own account's device.
	 * @throws AppError `rate_limit_exceeded`
	 */
	async #countAttempt(credentials: SignIn, { address, cookies }: SignInOrigin): Promise<SignInAttempt> {
		const email = normaliseEmail(credentials.email);
		const device = await this.#knownDevice(credentials, cookies);
		if (device === null) return { onlyUserId: null, queue: 'common', refund: this.#limits.consume(email, address) };
		const refundDevice = this.#limits.consumeForDevice(device.nonce);
		const refundOthers = device.sole ? null : this.#limits.tryConsume(email, address);
		const refund = () => {
			refundDevice();
			refundOthers?.();
		};
		return { onlyUserId: refundOthers === null ? device.userId : null, queue: 'preferred', refund };
	}

	/** The device of a sign-in, where it is a known device of one of the accounts; `sole`: only one account is tried. */
	async #knownDevice(
		credentials: SignIn,
		cookies: string | undefined,
	): Promise<(KnownDevice & { sole: boolean }) | null> {
		// Accounts are read only where there may be a token.
		if (!this.#devices.hasTokenIn(cookies)) return null;
		const tried = await this.#candidateAccounts(credentials);
		const device = this.#devices.find(
			cookies,
			tried.filter((user) => user !== undefined),
		);
		return device && { ...device, sole: tried.length === 1 };
	}

	/**
	 * The account that email and password match: in the named workspace, else the oldest that matches.
	 *
	 * Users of one workspace must not learn about accounts in another, and an owner can create an account for any email. So neither
	 * the cost of a sign-in nor the account that it finds may depend on accounts elsewhere. Each hash has its own salt: if only one
	 * account were tried, an older account elsewhere would be noticed, because it would be tried first. Therefore the number of
	 * hashes is the number of the server's workspaces, at most three, whichever accounts exist and match: one on most servers, and
	 * one where the workspace is named. An email's accounts beyond the three oldest with a password need the workspace's name.
	 * @param attempt with `onlyUserId` only that account is tried, at the same cost
	 */
	async #verifiedAccount(
		credentials: SignIn,
		{ onlyUserId, queue }: Pick<SignInAttempt, 'onlyUserId' | 'queue'>,
	): Promise<UserRecord | null> {
		const { password } = credentials;
		const accounts = await this.#candidateAccounts(credentials);
		const candidates = accounts.map((user) => (onlyUserId === null || user?.id === onlyUserId ? user : undefined));
		// All of them, also after a match: the time must not show how many accounts come before it.
		const isValid = await Promise.all(
			candidates.map((user) => this.#passwords.verify(password, user?.password_hash ?? null, queue)),
		);
		return candidates[isValid.indexOf(true)] ?? null;
	}

	/** The accounts that a sign-in is tried on, one per computed hash; undefined: a hash without an account. */
	async #candidateAccounts({ email, workspace_id }: SignIn): Promise<(UserRecord | undefined)[]> {
		const tries = workspace_id === undefined ? await this.#countWorkspaces(MAX_CANDIDATES) : 1;
		const accounts = await this.#users.findByEmail(email, workspace_id);
		const withPassword = accounts.filter(({ password_hash }) => password_hash !== null);
		return Array.from({ length: tries }, (_, at) => withPassword[at]);
	}

	/** How many workspaces the server has, at most `limit`. */
	async #countWorkspaces(limit: number): Promise<number> {
		return (await this.#store.list('workspaces', { where: {}, order: 'asc', limit })).length;
	}

	/**
	 * Begins a session. It replaces the browser's present session and the user's oldest ones beyond the limit.
	 * @returns null where the account has changed since its password was verified
	 */
	async #createSession(verified: UserRecord, cookies: string | undefined): Promise<UserSession | null> {
		const token = createToken();
		return decideAndCommit<UserSession | null>(this.#store, async () => {
			const user = await this.#store.get('users', verified.id);
			if (user?.password_hash !== verified.password_hash) return { commit: null, result: null };
			const session = this.#newSession(user, token);
			const replaced = [...(await this.#sessionOf(cookies)), ...(await this.#sessionsBeyondLimit(user.id))];
			const write: Write[] = replaced.map(({ id }) => ({ op: 'remove', kind: 'sessions', id }));
			write.push({ op: 'insert', kind: 'sessions', record: session });
			const commit = { expect: [expectVersion('users', user)], write };
			return { commit, result: { session, user, setCookie: this.#cookieOf(token) } };
		});
	}

	#newSession(user: UserRecord, token: string): SessionRecord {
		const now = this.#clock.now();
		return {
			id: newId('session'),
			version: 1,
			workspace_id: user.workspace_id,
			user_id: user.id,
			hash: hashToken(token),
			expires_at: now + LIFETIME_MS,
			created_at: now,
		};
	}

	/** The session that a browser has already, if any. */
	async #sessionOf(cookies: string | undefined): Promise<SessionRecord[]> {
		const token = sessionTokenIn(cookies);
		const session = token === null ? undefined : await this.#store.access.sessionByHash(hashToken(token));
		return session ? [session] : [];
	}

	/** The oldest sessions of a user, which end so that there is a place for one more. */
	async #sessionsBeyondLimit(userId: string): Promise<SessionRecord[]> {
		const oldest = { where: { user_id: userId }, order: 'asc', limit: 2 * MAX_SESSIONS } as const;
		const sessions = await this.#store.list('sessions', oldest);
		return sessions.slice(0, Math.max(0, sessions.length + 1 - MAX_SESSIONS));
	}

	#cookieOf(token: string): string {
		return sessionCookie(token, LIFETIME_MS / 1000, this.#secure);
	}

	async #renewed(userSession: UserSession, token: string): Promise<UserSession> {
		const { session, user } = userSession;
		const now = this.#clock.now();
		if (session.expires_at > now + LIFETIME_MS - RENEW_AFTER_MS) return userSession;
		const set = { expires_at: now + LIFETIME_MS };
		try {
			const { outcome } = await this.#store.commit({
				// Of concurrent requests, one renews.
				expect: [expectVersion('sessions', session)],
				write: [{ op: 'patch', kind: 'sessions', id: session.id, set }],
			});
			if (outcome !== 'committed') return userSession;
		} catch (error) {
			// The session stays valid, and requests that only read work while the disk cannot be written.
			if (error instanceof AppError) return userSession;
			throw error;
		}
		const renewed = { ...session, ...set, version: session.version + 1 };
		return { session: renewed, user, setCookie: this.#cookieOf(token) };
	}
}
