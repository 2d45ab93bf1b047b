import { AppError } from '../base/index.ts';
import { SCOPES, type Scope } from '../contract/index.ts';
import type { UserRecord } from '../store/index.ts';

type GrantedScope = '*' | Scope;

const OWNER_SCOPES: readonly GrantedScope[] = ['*'];
const MEMBER_SCOPES: readonly GrantedScope[] = SCOPES.filter(
	(scope) => scope !== '*' && !scope.startsWith('settings:'),
);

/** The scopes of a user's sessions: an owner has all, a member all but the settings. */
export function scopesOf(role: UserRecord['role']): readonly GrantedScope[] {
	return role === 'owner' ? OWNER_SCOPES : MEMBER_SCOPES;
}

/** Whether these scopes include a scope. */
export function includesScope(scopes: readonly GrantedScope[], scope: GrantedScope): boolean {
	return scopes.includes('*') || scopes.includes(scope);
}

/**
 * A grantor can only grant scopes that it has.
 * @throws AppError `insufficient_scope`
 */
export function requireGrantable(grantorScopes: readonly GrantedScope[], grantedScopes: readonly GrantedScope[]): void {
	const missing = grantedScopes.find((scope) => !includesScope(grantorScopes, scope));
	if (missing === undefined) return;
	throw new AppError('insufficient_scope', `Only a caller with the scope ${missing} can grant it.`);
}
