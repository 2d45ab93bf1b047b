import { AppError, type Clock } from '../base/index.ts';
import type { AccountPatch } from '../contract/index.ts';
import { decideAndCommit, expectVersion, type Store, type UserRecord, type Write } from '../store/index.ts';
import type { AuditWrites } from './audit-writes.ts';
import { type PasswordVerifier, type SignInOrigin, wrongPasswordError } from './password-verifier.ts';
import type { Passwords } from './passwords.ts';
import type { UserSession } from './sessions.ts';

export interface OwnAccountOptions {
	store: Pick<Store, 'commit' | 'get'>;
	verifier: PasswordVerifier;
	passwords: Passwords;
	clock: Clock;
}

/** What users change of their own accounts. */
export class OwnAccount {
	readonly #store: OwnAccountOptions['store'];
	readonly #verifier: PasswordVerifier;
	readonly #passwords: Passwords;
	readonly #clock: Clock;

	constructor({ store, verifier, passwords, clock }: OwnAccountOptions) {
		this.#store = store;
		this.#verifier = verifier;
		this.#passwords = passwords;
		this.#clock = clock;
	}

	/**
	 * Changes the name, and the password where the present one is given. A new password ends the other sessions and the link for
	 * setting a password.
	 * @throws AppError `invalid_request` where the present password is wrong, `rate_limit_exceeded`, `unavailable`
	 */
	async change(
		{ user: { id, name: presentName }, session }: Pick<UserSession, 'user' | 'session'>,
		{ name = presentName, password, current_password }: AccountPatch,
		origin: SignInOrigin,
		audit: AuditWrites,
	): Promise<UserRecord> {
		const verifiedHash = password === undefined ? null : await this.#verifier.verifyOwn(id, current_password, origin);
		const password_hash = password === undefined ? null : await this.#passwords.hash(password, 'preferred');
		return decideAndCommit(this.#store, async () => {
			const user = await this.#store.get('users', id);
			if (!user) throw new AppError('unauthorized');
			if (password_hash !== null && user.password_hash !== verifiedHash) throw wrongPasswordError();
			const replaced = { password_hash, password_link_hash: null, password_link_expires_at: null };
			const set = { name, updated_at: this.#clock.now(), ...(password_hash !== null && replaced) };
			const write: Write[] = [{ op: 'patch', kind: 'users', id, set }];
			if (password_hash !== null) write.push({ op: 'end_sessions', user_id: id, except: session.id });
			const next = { ...user, ...set, version: user.version + 1 };
			write.push(...audit(next, next));
			return { commit: { expect: [expectVersion('users', user)], write }, result: next };
		});
	}
}
