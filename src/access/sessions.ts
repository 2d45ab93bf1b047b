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
	/** Whether browsers reach this server over https: then the cookie goes over nothing else. */
	secure: boolean;
}

/** A session with who it belongs to. */
export interface UserSession {
	session: SessionRecord;
	user: UserRecord;
	/** The Set-Cookie header that the browser must get; null where it has the right cookie. */
	setCookie: string | null;
}

/** A session that has just begun. */
export interface NewSession extends UserSession {
	/** The Set-Cookie header that makes the browser a known device of the account. */
	deviceCookie: string;
}

/** Where a sign-in comes from. */
export interface SignInOrigin {
	/** The client's address. */
	address: string;
	/**
	 * The request's Cookie header: a session that the browser has already ends with the new one, and a device cookie says where
	 * somebody has signed in before.
	 */
	cookies: string | undefined;
}

/** A sign-in that the limits allow, counted as failed until it is taken back. */
interface SignInAttempt {
	/** The account that alone may be tried; null: all that the email names. */
	onlyUserId: string | null;
	/** Guesses of clients that are not known do not keep a known device waiting. */
	queue: SemaphoreQueue;
	refund: Refund;
}

const HOUR = 3_600_000;
const LIFETIME_MS = 14 * 24 * HOUR;
/** A session is prolonged when so much of its time is gone. */
const RENEW_AFTER_MS = HOUR;
/** Accounts whose password is tried where no workspace is named. */
const MAX_CANDIDATES = 3;
/** Of one person; the oldest ends for one more. */
const MAX_SESSIONS = 50;

/** Who is signed in: sessions of people, each known to its browser by a cookie alone. */
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
			// Not the person's failure.
			refund();
			throw error;
		}
		if (!userSession) throw new AppError('unauthorized', 'The email or the password is wrong.');
		refund();
		return { ...userSession, deviceCookie: this.deviceCookie(userSession.user, origin.cookies) };
	}

	/**
	 * The Set-Cookie header that makes the browser a known device of an account whose owner it has proved to be.
	 * @param cookies the request's Cookie header
	 */
	deviceCookie(user: UserRecord, cookies: string | undefined): string {
		return this.#devices.issue(user, cookies);
	}

	/** The session whose cookie a request brings, prolonged where it is time to; null where there is none that is good. */
	async find(cookies: string | undefined): Promise<UserSession | null> {
		const token = sessionTokenIn(cookies);
		const session = token === null ? undefined : await this.#store.access.sessionByHash(hashToken(token));
		if (token === null || !session || session.expires_at <= this.#clock.now()) return null;
		const user = await this.#store.get('users', session.user_id);
		return user ? this.#renewed({ session, user, setCookie: null }, token) : null;
	}

	/**
	 * Ends a session.
	 * @returns the Set-Cookie header that makes the browser forget it
	 */
	async signOut(id: string): Promise<string> {
		await decideAndCommit(this.#store, async () => ({
			commit: { write: [{ op: 'remove', kind: 'sessions', id }] },
			result: undefined,
		}));
		return sessionCookie('', 0, this.#secure);
	}

	/**
	 * Counts a sign-in against the limit that it falls under. A known device of an account may always try that account, within
	 * its own limit. Of a server with several workspaces, a sign-in that names none also tries accounts elsewhere; those stay
	 * under the limit for clients that are not known, or an account of one's own would be a way to guess the others' passwords.
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

	/** The device that a sign-in comes from, where it is known to one of the accounts; `sole`: only one is tried. */
	async #knownDevice(
		credentials: SignIn,
		cookies: string | undefined,
	): Promise<(KnownDevice & { sole: boolean }) | null> {
		// Accounts are read for those alone who bring what may be a token.
		if (!this.#devices.hasTokenIn(cookies)) return null;
		const tried = await this.#candidateAccounts(credentials);
		const device = this.#devices.find(
			cookies,
			tried.filter((user) => user !== undefined),
		);
		return device && { ...device, sole: tried.length === 1 };
	}

	/**
	 * The account that email and password fit: in the workspace that is named, else the oldest that does.
	 *
	 * Workspaces of one server do not know of each other's people, and an owner of one can give any email an account there: so
	 * neither what a sign-in costs nor which of one's own accounts it finds may depend on accounts elsewhere. Every account's
	 * hash has a salt of its own, so to look at one account alone would let an older one elsewhere show by its being in the
	 * way. Hence, whatever accounts there are and whichever fits, as many hashes are computed as the server has workspaces,
	 * but no more than three: one on most servers, and one where the workspace is named. Accounts of an email past its three
	 * oldest with a password are found by their workspace alone.
	 * @param only the account that alone may be tried; it costs as many hashes
	 */
	async #verifiedAccount(
		credentials: SignIn,
		{ onlyUserId, queue }: Pick<SignInAttempt, 'onlyUserId' | 'queue'>,
	): Promise<UserRecord | null> {
		const { password } = credentials;
		const accounts = await this.#candidateAccounts(credentials);
		const candidates = accounts.map((user) => (onlyUserId === null || user?.id === onlyUserId ? user : undefined));
		// All of them, also past the one that fits: whose password it is shall not see how many are before it.
		const isValid = await Promise.all(
			candidates.map((user) => this.#passwords.verify(password, user?.password_hash ?? null, queue)),
		);
		return candidates[isValid.indexOf(true)] ?? null;
	}

	/** The accounts that a sign-in is tried on, one for each hash that it costs; undefined: a hash for no account. */
	async #candidateAccounts({ email, workspace_id }: SignIn): Promise<(UserRecord | undefined)[]> {
		const tries = workspace_id === undefined ? await this.#countWorkspaces(MAX_CANDIDATES) : 1;
		const accounts = await this.#users.findByEmail(email, workspace_id);
		const withPassword = accounts.filter(({ password_hash }) => password_hash !== null);
		return Array.from({ length: tries }, (_, at) => withPassword[at]);
	}

	/** How many workspaces the server has, counted up to a number. */
	async #countWorkspaces(limit: number): Promise<number> {
		return (await this.#store.list('workspaces', { where: {}, order: 'asc', limit })).length;
	}

	/**
	 * Begins a session, in place of the one that the browser has and of the user's oldest ones beyond the limit.
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
				// Of requests that come at once, one prolongs.
				expect: [expectVersion('sessions', session)],
				write: [{ op: 'patch', kind: 'sessions', id: session.id, set }],
			});
			if (outcome !== 'committed') return userSession;
		} catch (error) {
			// The session is good all the same, and what is only read needs no disk that can be written to.
			if (error instanceof AppError) return userSession;
			throw error;
		}
		const renewed = { ...session, ...set, version: session.version + 1 };
		return { session: renewed, user, setCookie: this.#cookieOf(token) };
	}
}
