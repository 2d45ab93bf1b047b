import { AppError, type Clock, type SemaphoreQueue } from '../base/index.ts';
import type { SignIn } from '../contract/index.ts';
import type { SharedLimits, Store, UserRecord } from '../store/index.ts';
import { MemoryAttemptCounts, SharedAttemptCounts } from './attempt-counts.ts';
import type { DeviceCookies, KnownDevice } from './device-cookies.ts';
import type { Passwords } from './passwords.ts';
import { type Refund, SignInLimits } from './sign-in-limits.ts';
import { normaliseEmail } from './user-record.ts';
import type { Users } from './users.ts';

export interface PasswordVerifierOptions {
	store: Pick<Store, 'list'>;
	users: Pick<Users, 'find' | 'findByEmail'>;
	passwords: Passwords;
	devices: DeviceCookies;
	clock: Clock;
	/** For a cluster: failed attempts on all nodes count together. */
	sharedLimits?: Pick<SharedLimits, 'countAttempts' | 'refundAttempts'> | undefined;
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
	/** The request's User-Agent header, by which the user tells sessions apart. */
	userAgent?: string | undefined;
}

/** A sign-in that the limits allow. It counts as failed until it is refunded. */
interface SignInAttempt {
	/** The only account to try; null: all accounts of the email. */
	onlyUserId: string | null;
	/** Known devices do not wait behind guesses of unknown clients. */
	queue: SemaphoreQueue;
	refund: Refund;
}

/** What is done with the result of a verification. */
interface Verified<T> {
	/** @returns null where the account has changed meanwhile, which counts as a failed attempt */
	use(user: UserRecord): Promise<T | null>;
	/** Called for the account whose password is wrong, unless accounts of several workspaces were tried. */
	onWrongPassword?(user: UserRecord): void;
}

/** Accounts whose password is tried where the sign-in names no workspace. */
const MAX_CANDIDATES = 3;

/** Verifies passwords, within the limits of failed attempts. */
export class PasswordVerifier {
	readonly #store: PasswordVerifierOptions['store'];
	readonly #users: PasswordVerifierOptions['users'];
	readonly #passwords: Passwords;
	readonly #devices: DeviceCookies;
	readonly #limits: SignInLimits;

	constructor({ store, users, passwords, devices, clock, sharedLimits }: PasswordVerifierOptions) {
		this.#store = store;
		this.#users = users;
		this.#passwords = passwords;
		this.#devices = devices;
		this.#limits = new SignInLimits(
			sharedLimits === undefined ? new MemoryAttemptCounts(clock) : new SharedAttemptCounts(sharedLimits),
		);
	}

	/**
	 * Verifies email and password, and calls `use` with the account that they match.
	 * @throws AppError `unauthorized`, `rate_limit_exceeded`, `unavailable`
	 */
	async verify<T>(credentials: SignIn, origin: SignInOrigin, { use, onWrongPassword }: Verified<T>): Promise<T> {
		const { refund, ...attempt } = await this.#countAttempt(credentials, origin);
		let result: T | null;
		try {
			const { user, onlyTried } = await this.#verifiedAccount(credentials, attempt);
			if (user === null && onlyTried !== undefined) onWrongPassword?.(onlyTried);
			result = user && (await use(user));
		} catch (error) {
			// The attempt did not fail because of the password.
			await refund();
			throw error;
		}
		if (result === null) throw new AppError('unauthorized', 'The email or the password is wrong.');
		await refund();
		return result;
	}

	/**
	 * Verifies the password of the user who is signed in.
	 * @returns the stored hash that it matches
	 * @throws AppError `invalid_request` where it is wrong, `rate_limit_exceeded`, `unavailable`
	 */
	async verifyOwn(userId: string, password: string | undefined, origin: SignInOrigin): Promise<string | null> {
		const user = await this.#users.find(userId);
		if (password === undefined || !user) throw wrongPasswordError('is required with password');
		const { email, workspace_id } = user;
		try {
			return await this.verify({ email, password, workspace_id }, origin, {
				use: async (verified) => (verified.id === userId ? verified.password_hash : null),
			});
		} catch (error) {
			if (error instanceof AppError && error.code === 'unauthorized') throw wrongPasswordError();
			throw error;
		}
	}

	/**
	 * Calls `use`, which checks a code of an account, within the limits of failed sign-ins.
	 * @param use returns null for a wrong code, which counts as a failed attempt
	 * @throws AppError `rate_limit_exceeded`
	 */
	async limited<T>(
		user: UserRecord,
		{ address, cookies }: SignInOrigin,
		use: () => Promise<T | null>,
	): Promise<T | null> {
		const device = this.#devices.find(cookies, [user]);
		const refund =
			device === null
				? await this.#limits.consume(user.email, address)
				: await this.#limits.consumeCodeForDevice(device);
		try {
			const result = await use();
			if (result !== null) await refund();
			return result;
		} catch (error) {
			await refund();
			throw error;
		}
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
		if (device === null)
			return { onlyUserId: null, queue: 'common', refund: await this.#limits.consume(email, address) };
		const refundDevice = await this.#limits.consumeForDevice(device.nonce);
		const refundOthers = device.sole ? null : await this.#limits.tryConsume(email, address);
		const refund = async () => {
			await refundDevice();
			await refundOthers?.();
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
	 * The account that email and password match (in the named workspace, else the oldest that matches), and the only account that was tried.
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
	): Promise<{ user: UserRecord | null; onlyTried: UserRecord | undefined }> {
		const { password } = credentials;
		const accounts = await this.#candidateAccounts(credentials);
		const candidates = accounts.map((user) => (onlyUserId === null || user?.id === onlyUserId ? user : undefined));
		// All of them, also after a match: the time must not show how many accounts come before it.
		const isValid = await Promise.all(
			candidates.map((user) => this.#passwords.verify(password, user?.password_hash ?? null, queue)),
		);
		// With accounts elsewhere, one workspace would learn of attempts that are meant for another.
		const onlyTried = accounts.length === 1 ? candidates[0] : undefined;
		return { user: candidates[isValid.indexOf(true)] ?? null, onlyTried };
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
}

/** The error of a wrong present password. */
export function wrongPasswordError(message = 'is not the present password'): AppError {
	const path = '/current_password';
	return new AppError('invalid_request', `${path} ${message}.`, { details: [{ path, message }] });
}
