import { AppError, type Clock, type GateQueue, newId } from '../base/index.ts';
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
import { type GiveBack, SignInLimits } from './sign-in-limits.ts';
import { normalEmail, type Users } from './users.ts';

export interface SessionsOptions {
	store: Pick<Store, 'commit' | 'get' | 'list' | 'sessionByHash'>;
	users: Pick<Users, 'withEmail'>;
	passwords: Passwords;
	devices: DeviceCookies;
	clock: Clock;
	/** Whether browsers reach this server over https: then the cookie goes over nothing else. */
	secure: boolean;
}

/** A session with who it belongs to. */
export interface SignedIn {
	session: SessionRecord;
	user: UserRecord;
	/** The Set-Cookie header that the browser must get; null where it has the right cookie. */
	setCookie: string | null;
}

/** A session that has just begun. */
export interface BegunSession extends SignedIn {
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
interface Attempt {
	/** The account that alone may be tried; null: all that the email names. */
	only: string | null;
	/** Guesses of clients that are not known do not keep a known device waiting. */
	queue: GateQueue;
	giveBack: GiveBack;
}

const HOUR = 3_600_000;
const LIFETIME_MS = 14 * 24 * HOUR;
/** A session is prolonged when so much of its time is gone. */
const PROLONG_AFTER_MS = HOUR;
/** Accounts whose password is tried where no workspace is named. */
const MAX_TRIES = 3;
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
	async signIn(given: SignIn, origin: SignInOrigin): Promise<BegunSession> {
		const { giveBack, ...attempt } = await this.#attempt(given, origin);
		let signedIn: SignedIn | null;
		try {
			const user = await this.#accountOf(given, attempt);
			signedIn = user && (await this.#begin(user, origin.cookies));
		} catch (error) {
			// Not the person's failure.
			giveBack();
			throw error;
		}
		if (!signedIn) throw new AppError('unauthorized', 'The email or the password is wrong.');
		giveBack();
		return { ...signedIn, deviceCookie: this.deviceCookie(signedIn.user, origin.cookies) };
	}

	/**
	 * The Set-Cookie header that makes the browser a known device of an account whose owner it has proved to be.
	 * @param cookies the request's Cookie header
	 */
	deviceCookie(user: UserRecord, cookies: string | undefined): string {
		return this.#devices.issue(user, cookies);
	}

	/** The session whose cookie a request brings, prolonged where it is time to; null where there is none that is good. */
	async find(cookies: string | undefined): Promise<SignedIn | null> {
		const token = sessionTokenIn(cookies);
		const session = token === null ? undefined : await this.#store.sessionByHash(hashToken(token));
		if (token === null || !session || session.expires_at <= this.#clock.now()) return null;
		const user = await this.#store.get('users', session.user_id);
		return user ? this.#prolonged({ session, user, setCookie: null }, token) : null;
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
	async #attempt(given: SignIn, { address, cookies }: SignInOrigin): Promise<Attempt> {
		const email = normalEmail(given.email);
		const known = await this.#knownDevice(given, cookies);
		if (known === null) return { only: null, queue: 'common', giveBack: this.#limits.take(email, address) };
		const ofDevice = this.#limits.takeOfDevice(known.nonce);
		const others = known.sole ? null : this.#limits.tryTake(email, address);
		const giveBack = () => {
			ofDevice();
			others?.();
		};
		return { only: others === null ? known.userId : null, queue: 'preferred', giveBack };
	}

	/** The device that a sign-in comes from, where it is known to one of the accounts; `sole`: only one is tried. */
	async #knownDevice(given: SignIn, cookies: string | undefined): Promise<(KnownDevice & { sole: boolean }) | null> {
		// Accounts are read for those alone who bring what may be a token.
		if (!this.#devices.areIn(cookies)) return null;
		const tried = await this.#triedAccounts(given);
		const known = this.#devices.find(
			cookies,
			tried.filter((user) => user !== undefined),
		);
		return known && { ...known, sole: tried.length === 1 };
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
	async #accountOf(given: SignIn, { only, queue }: Pick<Attempt, 'only' | 'queue'>): Promise<UserRecord | null> {
		const { password } = given;
		const accounts = await this.#triedAccounts(given);
		const tried = accounts.map((user) => (only === null || user?.id === only ? user : undefined));
		// All of them, also past the one that fits: whose password it is shall not see how many are before it.
		const fits = await Promise.all(
			tried.map((user) => this.#passwords.verify(password, user?.password_hash ?? null, queue)),
		);
		return tried[fits.indexOf(true)] ?? null;
	}

	/** The accounts that a sign-in is tried on, one for each hash that it costs; undefined: a hash for no account. */
	async #triedAccounts({ email, workspace_id }: SignIn): Promise<(UserRecord | undefined)[]> {
		const tries = workspace_id === undefined ? await this.#workspaces(MAX_TRIES) : 1;
		const accounts = await this.#users.withEmail(email, workspace_id);
		const withPassword = accounts.filter(({ password_hash }) => password_hash !== null);
		return Array.from({ length: tries }, (_, at) => withPassword[at]);
	}

	/** How many workspaces the server has, counted up to a number. */
	async #workspaces(limit: number): Promise<number> {
		return (await this.#store.list('workspaces', { where: {}, order: 'asc', limit })).length;
	}

	/** Null where the account has changed since its password was found right. */
	async #begin({ id: userId, password_hash }: UserRecord, cookies: string | undefined): Promise<SignedIn | null> {
		const token = createToken();
		const former = sessionTokenIn(cookies);
		const setCookie = sessionCookie(token, LIFETIME_MS / 1000, this.#secure);
		return decideAndCommit<SignedIn | null>(this.#store, async () => {
			const user = await this.#store.get('users', userId);
			if (!user || user.password_hash !== password_hash) return { commit: null, result: null };
			const now = this.#clock.now();
			const session: SessionRecord = {
				id: newId('session'),
				version: 1,
				workspace_id: user.workspace_id,
				user_id: user.id,
				hash: hashToken(token),
				expires_at: now + LIFETIME_MS,
				created_at: now,
			};
			const replaced = former === null ? undefined : await this.#store.sessionByHash(hashToken(former));
			const ending = [...(replaced ? [replaced] : []), ...(await this.#tooMany(user.id))];
			const write: Write[] = ending.map(({ id }) => ({ op: 'remove', kind: 'sessions', id }));
			write.push({ op: 'insert', kind: 'sessions', record: session });
			return { commit: { expect: [expectVersion('users', user)], write }, result: { session, user, setCookie } };
		});
	}

	/** Those of a person's sessions that leave room for one more by ending. */
	async #tooMany(userId: string): Promise<SessionRecord[]> {
		const oldest = { where: { user_id: userId }, order: 'asc', limit: 2 * MAX_SESSIONS } as const;
		const sessions = await this.#store.list('sessions', oldest);
		return sessions.slice(0, Math.max(0, sessions.length + 1 - MAX_SESSIONS));
	}

	async #prolonged(signedIn: SignedIn, token: string): Promise<SignedIn> {
		const { session, user } = signedIn;
		const now = this.#clock.now();
		if (session.expires_at > now + LIFETIME_MS - PROLONG_AFTER_MS) return signedIn;
		const set = { expires_at: now + LIFETIME_MS };
		try {
			const { outcome } = await this.#store.commit({
				// Of requests that come at once, one prolongs.
				expect: [expectVersion('sessions', session)],
				write: [{ op: 'patch', kind: 'sessions', id: session.id, set }],
			});
			if (outcome !== 'committed') return signedIn;
		} catch (error) {
			// The session is good all the same, and what is only read needs no disk that can be written to.
			if (error instanceof AppError) return signedIn;
			throw error;
		}
		const setCookie = sessionCookie(token, LIFETIME_MS / 1000, this.#secure);
		return { session: { ...session, ...set, version: session.version + 1 }, user, setCookie };
	}
}
