import { AppError } from '../base/index.ts';
import type { DeploymentJwt, DeploymentJwtPatch, Features } from '../contract/index.ts';

/** Validates how a deployment verifies its visitors' tokens, and seals the secret. */
export interface TokenSettings {
	/**
	 * The settings after a JSON merge patch; null clears them.
	 * @throws AppError with details below `/jwt`
	 */
	merge(stored: DeploymentJwt | null, patch: DeploymentJwtPatch | null): DeploymentJwt | null;
}

/**
 * Requires a key where tokens are required: otherwise no visitor could be admitted.
 * @throws AppError `invalid_request`
 */
export function requireVerificationKey(features: Pick<Features, 'jwt_required'>, jwt: DeploymentJwt | null): void {
	if (!features.jwt_required) return;
	if (jwt !== null && (jwt.secret ?? jwt.public_key ?? jwt.jwks_url) !== null) return;
	const message = 'is required while features.jwt_required is true';
	throw new AppError('invalid_request', `/jwt ${message}.`, { details: [{ path: '/jwt', message }] });
}
