import { AppError, type Clock, type Log } from '../base/index.ts';
import type { SignIn } from '../contract/index.ts';
import {
	decideAndCommit,
	expectVersion,
	type ListPosition,
	type SessionRecord,
	type Store,
	type UserRecord,
	type Write,
} from '../store/index.ts';
import type { AuditWrites } from './audit-writes.ts';
import type { DeviceCookies } from './device-cookies.ts';
import type { IdentityAccount, RefusedIdentity } from './oidc-accounts.ts';
import type { PasswordSignIn } from './password-sign-in.ts';
import type { PasswordVerifier, SignInOrigin } from './password-verifier.ts';
import { type PendingSignIns, passwordDigest } from './pending-sign-ins.ts';
import { RefusedSignIns } from './refused-sign-ins.ts';
import { hasTotp, type SecondFactor } from './second-factor.ts';
import { createToken, hashToken } from './secret-token.ts';
import { sessionCookie, sessionTokenIn } from './session-cookie.ts';
import { newSession, renewedExpiry } from './session-record.ts';

export interface SessionsOptions {
	store: Pick<Store, 'access' | 'commit' | 'get' | 'list'>;
	verifier: PasswordVerifier;
	devices: DeviceCookies;
	pendingSignIns: PendingSignIns;
	passwordSignIn: PasswordSignIn;
	secondFactor: SecondFactor;
	clock: Clock;
	log: Log;
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

/** A sign-in that needs a code: the Set-Cookie header by which the browser continues it. */
export interface UnfinishedSignIn {
	pendingCookie: string;
}

/** A page of a user's sessions, ordered by their creation. */
export interface SessionPage {
	after?: ListPosition | undefined;
	order: 'asc' | 'desc';
	limit: number;
}

/** Sessions of one user. One more ends the oldest. */
const MAX_SESSIONS = 50;
/** A page with every session of a user. */
const ALL_SESSIONS: SessionPage = { order: 'desc', limit: MAX_SESSIONS };

/** Sessions of users. The browser holds a session's token in a cookie. */
export class Sessions {
	readonly #store: SessionsOptions['store'];
	readonly #verifier: PasswordVerifier;
	readonly #devices: DeviceCookies;
	readonly #pendingSignIns: PendingSignIns;
	readonly #passwordSignIn: PasswordSignIn;
	readonly #secondFactor: SecondFactor;
	readonly #refused: RefusedSignIns;
	readonly #clock: Clock;
	readonly #secure: boolean;

	constructor({ store, verifier, devices, clock, log, secure, ...steps }: SessionsOptions) {
		this.#store = store;
		this.#verifier = verifier;
		this.#devices = devices;
		this.#pendingSignIns = steps.pendingSignIns;
		this.#passwordSignIn = steps.passwordSignIn;
		this.#secondFactor = steps.secondFactor;
		this.#refused = new RefusedSignIns({ store, clock, log });
		this.#clock = clock;
		this.#secure = secure;
	}

	/**
	 * Begins a session, or a sign-in that needs a code. Wrong passwords are recorded.
	 * @throws AppError `unauthorized`, `password_sign_in_disabled`, `account_deactivated`, `rate_limit_exceeded`, `unavailable`
	 */
	async signIn(
		credentials: SignIn,
		origin: SignInOrigin,
		audit: AuditWrites = () => [],
	): Promise<NewSession | UnfinishedSignIn> {
		this.#passwordSignIn.requireOffered(origin.cookies);
		const result = await this.#verifier.verify<UserSession | UnfinishedSignIn>(credentials, origin, {
			use: async (user) => {
				if (!this.#passwordSignIn.isAllowed(user, origin.cookies)) return null;
				if (hasTotp(user)) return { pendingCookie: this.#pendingSignIns.issue(user) };
				return this.#createSession(user, origin, audit, () => ({}));
			},
			onWrongPassword: (user) => this.#refused.recordLater(user, 'refusePassword', audit),
		});
		return 'pendingCookie' in result ? result : this.#newSessionOf(result, origin);
	}

	/**
	 * Continues a sign-in with a code of the app or a recovery code. Wrong codes count as failed sign-ins and are recorded.
	 * @throws AppError `unauthorized`, `rate_limit_exceeded`
	 */
	async continueSignIn(code: string, origin: SignInOrigin, audit: AuditWrites): Promise<NewSession & UnfinishedSignIn> {
		const pending = this.#pendingSignIns.find(origin.cookies);
		const user = pending === null ? undefined : await this.#store.get('users', pending.userId);
		if (!user || passwordDigest(user.password_hash) !== pending?.passwordDigest || !hasTotp(user)) {
			throw new AppError('unauthorized', 'The sign-in has expired. Sign in again.');
		}
		const userSession = await this.#verifier.limited(user, origin, () =>
			this.#createSession(user, origin, audit, (current) => {
				const totp = current.totp && this.#secondFactor.accept(current.totp, code, this.#clock.now());
				return totp && { totp };
			}),
		);
		if (userSession === null) {
			await this.#refused.record(user, 'refuseSecondFactor', audit);
			throw new AppError('unauthorized', 'The code is wrong, or was used before.');
		}
		return { ...this.#newSessionOf(userSession, origin), pendingCookie: this.#pendingSignIns.clear() };
	}

	#newSessionOf(userSession: UserSession, { cookies }: SignInOrigin): NewSession {
		return { ...userSession, deviceCookie: this.deviceCookie(userSession.user, cookies) };
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
	async signOut(
		{ session: { id }, user }: Omit<UserSession, 'setCookie'>,
		audit: AuditWrites = () => [],
	): Promise<string> {
		await decideAndCommit(this.#store, async () => ({
			commit: { write: [{ op: 'remove', kind: 'sessions', id }, ...audit(user, { id })] },
			result: undefined,
		}));
		return sessionCookie('', 0, this.#secure);
	}

	/** One page of the sessions of a user that are valid. */
	async list(userId: string, { after, order, limit }: SessionPage): Promise<SessionRecord[]> {
		const all = { where: { user_id: userId }, after, order, limit: 2 * MAX_SESSIONS };
		const sessions = await this.#store.list('sessions', all);
		return sessions.filter(({ expires_at }) => expires_at > this.#clock.now()).slice(0, limit);
	}

	/** Ends a session of the user. @throws AppError `not_found` also for a session of another user */
	end({ user }: Pick<UserSession, 'user'>, id: string, audit: AuditWrites): Promise<void> {
		return decideAndCommit(this.#store, async () => {
			const session = await this.#store.get('sessions', id);
			if (session?.user_id !== user.id) throw new AppError('not_found', 'The session does not exist.');
			const write: Write[] = [{ op: 'remove', kind: 'sessions', id }, ...audit(user, { id })];
			return { commit: { write }, result: undefined };
		});
	}

	/** Ends all sessions of the user but the present one. @returns their number */
	endOthers({ user, session }: Pick<UserSession, 'user' | 'session'>, audit: AuditWrites): Promise<number> {
		return decideAndCommit(this.#store, async () => {
			const others = (await this.list(user.id, ALL_SESSIONS)).filter(({ id }) => id !== session.id);
			if (others.length === 0) return { commit: null, result: 0 };
			const write: Write[] = [{ op: 'end_sessions', user_id: user.id, except: session.id }, ...audit(user, user)];
			return { commit: { write }, result: others.length };
		});
	}

	/**
	 * Begins a session. It replaces the browser's present session and the user's oldest ones beyond the limit.
	 * @param secondFactor what the code changes of the account; null where it is wrong
	 * @returns null where the account has changed since its password was verified, and for a wrong code
	 */
	async #createSession(
		verified: UserRecord,
		{ cookies, userAgent }: SignInOrigin,
		audit: AuditWrites,
		secondFactor: (user: UserRecord) => Partial<Pick<UserRecord, 'totp'>> | null,
	): Promise<UserSession | null> {
		const token = createToken();
		return decideAndCommit<UserSession | null>(this.#store, async () => {
			const user = await this.#store.get('users', verified.id);
			if (user?.password_hash !== verified.password_hash) return { commit: null, result: null };
			if (user.deactivated_at !== null) throw new AppError('account_deactivated');
			// A second factor that was set up meanwhile needs its code.
			const set = hasTotp(user) === hasTotp(verified) ? secondFactor(user) : null;
			if (set === null) return { commit: null, result: null };
			const session = newSession(user, { token, userAgent, signedInBy: 'password', now: this.#clock.now() });
			const write = await this.#replacedSessions(user, cookies);
			if (set.totp !== undefined) write.push({ op: 'patch', kind: 'users', id: user.id, set });
			write.push({ op: 'insert', kind: 'sessions', record: session }, ...audit(user, session));
			const commit = { expect: [expectVersion('users', user)], write };
			return { commit, result: { session, user, setCookie: this.#cookieOf(session, token) } };
		});
	}

	/**
	 * Begins a session of a person whom the identity provider has authenticated.
	 * @param decide gives the account, or the refusal
	 * @throws AppError the refusal
	 */
	async beginForIdentity(
		decide: (now: number) => Promise<IdentityAccount | RefusedIdentity>,
		{ cookies, userAgent }: SignInOrigin,
		audit: AuditWrites,
	): Promise<UserSession> {
		const token = createToken();
		let recorded: UserRecord | null = null;
		const outcome = await decideAndCommit<UserSession | AppError>(this.#store, async () => {
			const now = this.#clock.now();
			const account = await decide(now);
			if ('refusal' in account) {
				const { user, refusal } = account;
				if (user === null) return { commit: null, result: refusal };
				if (recorded === null && this.#refused.isDue(user, 'refuseOidcSignIn')) recorded = user;
				const record = recorded === null ? [] : audit(user, user, 'refuseOidcSignIn', []);
				return { commit: { write: [{ op: 'end_sessions', user_id: user.id }, ...record] }, result: refusal };
			}
			const { user, isNewRole, change, expect } = account;
			const session = newSession(user, { token, userAgent, signedInBy: 'oidc', now });
			const write = [...account.write, ...(await this.#replacedSessions(user, cookies))];
			if (isNewRole) write.push({ op: 'end_sessions', user_id: user.id });
			if (change !== null) write.push(...audit(user, user, change.action, change.fields));
			write.push({ op: 'insert', kind: 'sessions', record: session }, ...audit(user, session));
			return { commit: { expect, write }, result: { session, user, setCookie: this.#cookieOf(session, token) } };
		}).catch((error: unknown) => {
			if (recorded !== null) this.#refused.notRecorded(recorded, 'refuseOidcSignIn');
			throw error;
		});
		if (outcome instanceof AppError) throw outcome;
		return outcome;
	}

	/** The writes that end the browser's present session and the user's oldest ones beyond the limit. */
	async #replacedSessions({ id }: UserRecord, cookies: string | undefined): Promise<Write[]> {
		const replaced = [...(await this.#sessionOf(cookies)), ...(await this.#sessionsBeyondLimit(id))];
		return replaced.map(({ id }) => ({ op: 'remove', kind: 'sessions', id }));
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

	#cookieOf({ expires_at }: SessionRecord, token: string): string {
		return sessionCookie(token, Math.ceil((expires_at - this.#clock.now()) / 1000), this.#secure);
	}

	async #renewed(userSession: UserSession, token: string): Promise<UserSession> {
		const { session, user } = userSession;
		const expires_at = renewedExpiry(session, this.#clock.now());
		if (expires_at === null) return userSession;
		const set = { expires_at };
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
		return { session: renewed, user, setCookie: this.#cookieOf(renewed, token) };
	}
}
