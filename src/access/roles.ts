import { AppError } from '../base/index.ts';
import { type Role, SCOPES, type Scope } from '../contract/index.ts';

type GrantedScope = '*' | Scope;

const NAMED_SCOPES = SCOPES.filter((scope) => scope !== '*');
const isOfSettings = (scope: Scope) => scope.startsWith('settings:');

/**
 * The scopes of the sessions of each role. With the scope of each operation in the contract this is the table of operations and
 * roles. `*` also permits changes of owners (`requireOwnerRights`).
 */
const ROLE_SCOPES: Readonly<Record<Role, readonly GrantedScope[]>> = {
	owner: ['*'],
	admin: NAMED_SCOPES,
	member: NAMED_SCOPES.filter((scope) => !isOfSettings(scope)),
	agent: [
		'assistants:read',
		'knowledge_bases:read',
		'deployments:read',
		'conversations:read',
		'conversations:write',
		'messages:read',
		'messages:write',
		// The log of events, which keeps the dashboard up to date.
		'webhooks:read',
	],
	viewer: NAMED_SCOPES.filter((scope) => scope.endsWith(':read') && !isOfSettings(scope)),
};

/** The scopes of the sessions of users with a role. */
export function scopesOf(role: Role): readonly GrantedScope[] {
	return ROLE_SCOPES[role];
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

/**
 * Owners are changed, removed and invited only by callers that have every scope, as owners have.
 * @throws AppError `insufficient_scope`
 */
export function requireOwnerRights(scopes: readonly GrantedScope[]): void {
	if (!scopes.includes('*'))
		throw new AppError(
			'insufficient_scope',
			'Only an owner, or a key with every scope, may make, change or remove an owner.',
		);
}
