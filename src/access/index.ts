export { Access, type AccessOptions, type Caller, type Credentials } from './access.ts';
export { createApiKey, isApiKey } from './api-keys.ts';
export type { AuditWrites } from './audit-writes.ts';
export { type ClientNameFormat, ClientNames } from './client-names.ts';
export { CredentialMonitor, type CredentialMonitorOptions } from './credential-monitor.ts';
export { DashboardNetworks } from './dashboard-networks.ts';
export { DeviceCookies } from './device-cookies.ts';
export {
	createFirstWorkspace,
	FIRST_OWNER,
	type FirstStartSecrets,
	insertWorkspace,
	passwordLink,
} from './first-start.ts';
export { FirstStartNotice, firstStartFile, type OperatorConsole } from './first-start-notice.ts';
export { Idempotency, type IdempotencyClaim, type IdempotentRequest } from './idempotency.ts';
export { insertKey, keyRecord } from './key-record.ts';
export { OidcAccounts } from './oidc-accounts.ts';
export { type AuthorizationResponse, OidcSignIns } from './oidc-sign-ins.ts';
export { OwnAccount, type OwnAccountOptions } from './own-account.ts';
export { PasswordSignIn } from './password-sign-in.ts';
export { PasswordVerifier, type PasswordVerifierOptions, type SignInOrigin } from './password-verifier.ts';
export { type DeriveKey, Passwords } from './passwords.ts';
export { PendingSignIns } from './pending-sign-ins.ts';
export { PLAN_NAMES, planOf, requirePlanCapacity } from './plans.ts';
export { includesScope, requireGrantable, scopesOf } from './roles.ts';
export { hasSealedSecrets } from './sealed-secrets.ts';
export { hasTotp, SecondFactor } from './second-factor.ts';
export { loadSecretKey, loadSecretKeyOfDatabase } from './secret-key.ts';
export { adoptKey, adoptKeyOfCluster, existingKey, replacementKey } from './secret-key-change.ts';
export { checkKeyPermissions, checkSecretKey, type KeyCheck } from './secret-key-check.ts';
export { loadSecretKeyOfCluster, requireKeyOfCluster } from './secret-key-of-cluster.ts';
export { lastUseOf } from './session-record.ts';
export { Sessions, type SessionsOptions, type UserSession } from './sessions.ts';
export { SharedRateLimits, type SharedRateLimitsOptions } from './shared-rate-limits.ts';
export { Sweeper, type SweeperOptions } from './sweeper.ts';
export type { BucketState } from './token-bucket.ts';
export { type ConfirmedTotp, resetTotp, TotpSetup } from './totp-setup.ts';
export { readTrustedTime } from './trusted-time.ts';
export { type Grantor, type Invitation, type UserChange, Users, type UsersOptions } from './users.ts';
export { canOpenTokenSecret } from './visitor-keys.ts';
export { VisitorTokenSettings, type VisitorTokenSettingsOptions } from './visitor-token-settings.ts';
export { type VerifiedToken, VisitorTokens, type VisitorTokensOptions } from './visitor-tokens.ts';
export { workspaceGuardParts } from './workspace-guard.ts';
