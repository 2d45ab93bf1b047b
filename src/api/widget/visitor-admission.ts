import { isDeepStrictEqual } from 'node:util';
import type { VisitorTokens } from '../../access/index.ts';
import { AppError, parseUrl } from '../../base/index.ts';
import type { EndUser } from '../../contract/index.ts';
import { type Deployments, type VisibleDeployment, visitorKey } from '../../deployments/index.ts';
import type { HttpRequest } from '../../http/index.ts';
import type { DeploymentRecord } from '../../store/index.ts';
import type { DemoOrigin } from '../demo-origin.ts';

export interface VisitorAdmissionOptions {
	deployments: Deployments;
	visitorTokens: VisitorTokens;
	/** The server's demo page, which may show every deployment; null where it is switched off. */
	demo: DemoOrigin | null;
}

/** Who a visitor is, by the token of the request. */
interface VisitorIdentity {
	/** The token's subject; null where the deployment requires no token. */
	endUser: EndUser | null;
	/** When the token expires (milliseconds since the epoch); null where the deployment requires none. */
	tokenExpiresAt: number | null;
}

/** A visitor whose request a deployment admitted. */
export interface AdmittedVisitor extends VisitorIdentity {
	/** The deployment at the time of admission. */
	deployment: DeploymentRecord;
	/** See `visitorKey`. */
	visitorKey: string;
}

/**
 * Admits visitors' requests. They carry no credential: the deployment's allowlist must name the page's origin, and the visitor's
 * token must be valid where the deployment requires one.
 */
export class VisitorAdmission {
	readonly #deployments: Deployments;
	readonly #visitorTokens: VisitorTokens;
	readonly #demo: DemoOrigin | null;

	constructor({ deployments, visitorTokens, demo }: VisitorAdmissionOptions) {
		this.#deployments = deployments;
		this.#visitorTokens = visitorTokens;
		this.#demo = demo;
	}

	/** @throws AppError `domain_not_allowed` */
	requireAllowedOrigin(deployment: VisibleDeployment, request: HttpRequest): void {
		const origin = pageOrigin(request);
		if (!deployment.allows(origin) && !this.#demo?.allows(origin, request)) throw new AppError('domain_not_allowed');
	}

	/** @throws AppError `not_found`, `domain_not_allowed`, `invalid_jwt`, `rate_limit_exceeded` */
	async admit(deploymentId: string, request: HttpRequest): Promise<AdmittedVisitor> {
		const visible = await this.#deployments.visible(deploymentId);
		this.requireAllowedOrigin(visible, request);
		const deployment = visible.record;
		request.addLogFields({ workspace: deployment.workspace_id, deployment: deployment.id });
		const { endUser, tokenExpiresAt } = await this.#identifyOrCount(deployment, request);
		return {
			deployment,
			endUser,
			tokenExpiresAt,
			visitorKey: visitorKey(endUser?.id ?? null, request.clientAddress),
		};
	}

	/**
	 * Checks an admitted visitor again, by the deployment as it is now.
	 * @throws AppError where the visitor would no longer be admitted, or is another end user now
	 */
	async recheck(
		{ deployment, endUser }: AdmittedVisitor,
		current: VisibleDeployment,
		request: HttpRequest,
	): Promise<void> {
		this.requireAllowedOrigin(current, request);
		if (hasSameTokenRules(current.record, deployment)) return;
		const identity = await this.#identify(current.record, request);
		// As another end user, the visitor would not have access to the conversation.
		if (identity.endUser?.id !== endUser?.id) throw new AppError('invalid_jwt');
	}

	/** Counts a request with an invalid token by its address, because it has no other identity. */
	async #identifyOrCount(deployment: DeploymentRecord, request: HttpRequest): Promise<VisitorIdentity> {
		try {
			return await this.#identify(deployment, request);
		} catch (error) {
			if (error instanceof AppError && error.code === 'invalid_jwt') {
				await this.#deployments.limits.countRequest(deployment.id, visitorKey(null, request.clientAddress));
			}
			throw error;
		}
	}

	async #identify({ features, jwt }: DeploymentRecord, request: HttpRequest): Promise<VisitorIdentity> {
		if (!features.jwt_required) return { endUser: null, tokenExpiresAt: null };
		const { end_user, expiresAt } = await this.#visitorTokens.verify(jwt, request.header('authorization'));
		return { endUser: end_user, tokenExpiresAt: expiresAt };
	}
}

/** The origin of the page that sends a request: `Origin` decides, `Referer` only where it is absent. */
function pageOrigin(request: HttpRequest): string | null {
	const origin = request.header('origin');
	if (origin !== undefined) return origin;
	const referer = request.header('referer');
	return referer === undefined ? null : (parseUrl(referer)?.origin ?? null);
}

/** Whether two versions of a deployment identify their visitors by the same tokens. */
function hasSameTokenRules(one: DeploymentRecord, other: DeploymentRecord): boolean {
	if (one.features.jwt_required !== other.features.jwt_required) return false;
	return !one.features.jwt_required || isDeepStrictEqual(one.jwt, other.jwt);
}
