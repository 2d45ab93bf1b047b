import { AppError } from '../base/index.ts';
import { SCOPES, type Scope } from '../contract/index.ts';
import type { UserRecord } from '../store/index.ts';

type Granted = '*' | Scope;

const OWNER: readonly Granted[] = ['*'];
const MEMBER: readonly Granted[] = SCOPES.filter((scope) => scope !== '*' && !scope.startsWith('settings:'));

/** What a user's sessions may do: an owner everything, a member everything but the settings. */
export function scopesOf(role: UserRecord['role']): readonly Granted[] {
	return role === 'owner' ? OWNER : MEMBER;
}

/** Whether these scopes hold a scope. */
export function covers(scopes: readonly Granted[], scope: Granted): boolean {
	return scopes.includes('*') || scopes.includes(scope);
}

/**
 * Nobody gives what they do not have.
 * @param own the scopes of who gives
 * @throws AppError `insufficient_scope`
 */
export function requireGrantable(own: readonly Granted[], given: readonly Granted[]): void {
	const missing = given.find((scope) => !covers(own, scope));
	if (missing === undefined) return;
	throw new AppError('insufficient_scope', `The scope ${missing} can only be given by who has it.`);
}
