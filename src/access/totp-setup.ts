import { AppError, type Clock } from '../base/index.ts';
import {
	aroundCommit,
	expectVersion,
	prepareChange,
	type Store,
	type TotpRecord,
	type UncommittedChange,
	type UserRecord,
	type Write,
} from '../store/index.ts';
import type { PasswordVerifier, SignInOrigin } from './password-verifier.ts';
import { requireOwnerRights } from './roles.ts';
import { hasTotp, type SecondFactor } from './second-factor.ts';
import type { UserSession } from './sessions.ts';
import { createRecoveryCodes, createTotpSecret, totpUri } from './totp-codes.ts';
import type { UserChange, Users } from './users.ts';

export interface TotpSetupOptions {
	store: Pick<Store, 'commit' | 'get'>;
	verifier: PasswordVerifier;
	secondFactor: SecondFactor;
	clock: Clock;
}

type OwnSession = Pick<UserSession, 'user' | 'session'>;

/** A secret that waits for its first code. */
export interface BegunTotp {
	user: UserRecord;
	secret: string;
	uri: string;
}

/** A second factor that is in effect. */
export interface ConfirmedTotp {
	user: UserRecord;
	/** Shown only now. */
	recoveryCodes: string[];
}

/** How users set up and remove the second factor of their own accounts. */
export class TotpSetup {
	readonly #store: TotpSetupOptions['store'];
	readonly #verifier: PasswordVerifier;
	readonly #secondFactor: SecondFactor;
	readonly #clock: Clock;

	constructor({ store, verifier, secondFactor, clock }: TotpSetupOptions) {
		this.#store = store;
		this.#verifier = verifier;
		this.#secondFactor = secondFactor;
		this.#clock = clock;
	}

	/**
	 * Makes a secret. It has no effect until a code of it is confirmed; another call replaces it.
	 * @throws AppError `invalid_request` where the password is wrong or a second factor is set up, `rate_limit_exceeded`
	 */
	begin({ user: { id } }: OwnSession, password: string, origin: SignInOrigin): UncommittedChange<BegunTotp> {
		const secret = createTotpSecret();
		const totp = { secret: this.#secondFactor.seal(secret), enabled_at: null, last_step: 0, recovery_hashes: [] };
		const change = this.#change(
			id,
			(user) => {
				if (!hasTotp(user)) return { totp, write: [] };
				throw new AppError('invalid_request', 'A second factor is set up already. Remove it first.');
			},
			(user) => ({ user, secret, uri: totpUri(secret, user.email) }),
		);
		return this.#withPassword(id, password, origin, change);
	}

	/**
	 * Requires codes from now on, and ends the other sessions and the device cookies of the account. Wrong codes count as failed sign-ins.
	 * @throws AppError `invalid_request` where the code is wrong, `rate_limit_exceeded`
	 */
	confirm({ user, session }: OwnSession, code: string, origin: SignInOrigin): UncommittedChange<ConfirmedTotp> {
		const recoveryCodes = createRecoveryCodes();
		const recovery_hashes = recoveryCodes.map((each) => this.#secondFactor.hashRecoveryCode(each));
		const change = this.#change(
			user.id,
			(current) => {
				if (current.totp === null || hasTotp(current)) {
					throw new AppError('invalid_request', 'There is no second factor to confirm. Begin its setup first.');
				}
				const now = this.#clock.now();
				const accepted = this.#secondFactor.accept(current.totp, code, now);
				if (accepted === null) return null;
				const write: Write[] = [{ op: 'end_sessions', user_id: user.id, except: session.id }];
				return { totp: { ...accepted, enabled_at: now, recovery_hashes }, write };
			},
			(confirmed) => ({ user: confirmed, recoveryCodes }),
		);
		return {
			commit: async (addition) => {
				// A wrong code changes nothing, so nothing is added.
				const added = addition && ((confirmed: ConfirmedTotp | null) => addition(confirmed as ConfirmedTotp));
				const confirmed = await this.#verifier.limited(user, origin, () => change.commit(added));
				if (confirmed !== null) return confirmed;
				const details = [{ path: '/code', message: 'is not the present code' }];
				throw new AppError('invalid_request', '/code is not the present code.', { details });
			},
		};
	}

	/** Removes the second factor. @throws AppError `invalid_request` where the password is wrong, `rate_limit_exceeded` */
	disable({ user: { id } }: OwnSession, password: string, origin: SignInOrigin): UncommittedChange<UserRecord> {
		const change = this.#change(
			id,
			() => ({ totp: null, write: [] }),
			(user) => user,
		);
		return this.#withPassword(id, password, origin, change);
	}

	/** The same change, once the present password is verified. A change with a password always changes something. */
	#withPassword<T>(
		id: string,
		password: string,
		origin: SignInOrigin,
		change: UncommittedChange<T | null>,
	): UncommittedChange<T> {
		return aroundCommit(change as UncommittedChange<T>, async (commit) => {
			await this.#verifier.verifyOwn(id, password, origin);
			return commit();
		});
	}

	/**
	 * @param decide null: nothing changes
	 * @param resultOf makes the result from the changed user
	 */
	#change<T>(
		id: string,
		decide: (user: UserRecord) => { totp: TotpRecord | null; write: Write[] } | null,
		resultOf: (user: UserRecord) => T,
	): UncommittedChange<T | null> {
		return prepareChange<T | null>(this.#store, async () => {
			const user = await this.#store.get('users', id);
			if (!user) throw new AppError('unauthorized');
			const decided = decide(user);
			if (decided === null) return { commit: null, result: null };
			const set = { totp: decided.totp, updated_at: this.#clock.now() };
			const next = { ...user, ...set, version: user.version + 1 };
			const write: Write[] = [{ op: 'patch', kind: 'users', id, set }, ...decided.write];
			return { commit: { expect: [expectVersion('users', user)], write }, result: resultOf(next) };
		});
	}
}

/**
 * Removes the second factor of a user who has lost it, and ends the user's sessions.
 * @throws AppError `not_found`, `insufficient_scope`
 */
export function resetTotp(
	{ store, users, clock }: { store: Pick<Store, 'commit' | 'get'>; users: Pick<Users, 'get'>; clock: Clock },
	workspaceId: string,
	id: string,
	{ scopes }: Pick<UserChange, 'scopes'>,
): UncommittedChange<UserRecord> {
	return prepareChange(store, async () => {
		const user = await users.get(workspaceId, id);
		if (user.role === 'owner') requireOwnerRights(scopes);
		const set = { totp: null, updated_at: clock.now() };
		const write: Write[] = [
			{ op: 'patch', kind: 'users', id, set },
			{ op: 'end_sessions', user_id: id },
		];
		const commit = { expect: [expectVersion('users', user)], write };
		return { commit, result: { ...user, ...set, version: user.version + 1 } };
	});
}
