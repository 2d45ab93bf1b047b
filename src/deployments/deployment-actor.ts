import type { Actor } from '../actors/index.ts';
import { AppError, type Clock, mergedFields } from '../base/index.ts';
import { type DeploymentPatch, mergeBudget } from '../contract/index.ts';
import { type Commit, type DeploymentRecord, requireVersion, type Store, type Write } from '../store/index.ts';
import { type Allowlist, createAllowlist } from './allowlist.ts';
import { requireVerificationKey, type TokenSettings } from './token-settings.ts';
import type { VisibleDeployment } from './visible-deployment.ts';
import { type RenderedConfig, renderConfig } from './widget-config.ts';

export type DeploymentMessage =
	| { type: 'read' }
	/**
	 * `versions`: the versions that may be changed (If-Match); null: any. `writes`: committed with the change: its record in the
	 * audit log.
	 */
	| { type: 'change'; patch: DeploymentPatch; versions: readonly number[] | null; writes: Write[] };

export interface DeploymentDependencies {
	store: Pick<Store, 'commit' | 'get'>;
	clock: Clock;
	tokenSettings: TokenSettings;
	/** Called with each change once it is on disk, before the response. */
	onChanged(deployment: VisibleDeployment): void;
}

/** One resident deployment: its settings as they are on disk, and what the hot routes need of them, rendered once. */
export class DeploymentActor implements Actor<DeploymentMessage, DeploymentRecord>, VisibleDeployment {
	/** Whether visitors see it. A field, so that requests of the configuration do not read the record. */
	active: boolean;
	#record: DeploymentRecord;
	#allowlist: Allowlist;
	#config: RenderedConfig;
	readonly #deps: DeploymentDependencies;

	constructor(record: DeploymentRecord, deps: DeploymentDependencies) {
		this.#record = record;
		this.active = record.status === 'active';
		this.#deps = deps;
		this.#allowlist = createAllowlist(record.allowed_domains);
		this.#config = renderConfig(record);
	}

	get record(): DeploymentRecord {
		return this.#record;
	}

	allows(origin: string | null): boolean {
		return origin !== null && this.#allowlist.allows(origin);
	}

	get config(): RenderedConfig {
		return this.#config;
	}

	async handle(message: DeploymentMessage): Promise<DeploymentRecord> {
		if (message.type === 'change') await this.#change(message);
		return this.#record;
	}

	async #change({ patch, versions, writes }: Extract<DeploymentMessage, { type: 'change' }>): Promise<void> {
		requireVersion(this.#record, versions);
		if (isNoChange(this.#record, patch)) return;
		if (patch.assistant_id !== undefined && patch.assistant_id !== this.#record.assistant_id) {
			const assistant = await this.#deps.store.get('assistants', patch.assistant_id);
			if (assistant?.workspace_id !== this.#record.workspace_id)
				throw new AppError('not_found', 'The assistant does not exist.');
		}
		const allowlist = patch.allowed_domains ? createAllowlist(patch.allowed_domains) : this.#allowlist;
		const { jwt, budget, visitor_budget, ...plain } = patch;
		const set = { ...mergedFields(this.#record, plain), updated_at: this.#deps.clock.now() };
		if (budget !== undefined) set.budget = mergeBudget(this.#record.budget, budget, '/budget');
		if (visitor_budget !== undefined) {
			set.visitor_budget = mergeBudget(this.#record.visitor_budget, visitor_budget, '/visitor_budget');
		}
		if (jwt !== undefined) set.jwt = this.#deps.tokenSettings.merge(this.#record.jwt, jwt);
		// Only where the patch touches it: deployments older than this rule can still be renamed and archived.
		if (jwt !== undefined || patch.features?.jwt_required) {
			requireVerificationKey(set.features ?? this.#record.features, set.jwt === undefined ? this.#record.jwt : set.jwt);
		}
		const { outcome } = await this.#deps.store.commit({
			expect: [{ kind: 'deployments', id: this.#record.id, version: this.#record.version }],
			write: [{ op: 'patch', kind: 'deployments', id: this.#record.id, set }, ...writes],
		} satisfies Commit);
		// Not an AppError: the actor's memory is outdated, and the error discards the actor.
		if (outcome !== 'committed') throw new Error(`The deployment's change was refused (${outcome}).`);
		this.#record = { ...this.#record, ...set, version: this.#record.version + 1 };
		this.active = this.#record.status === 'active';
		this.#allowlist = allowlist;
		this.#config = renderConfig(this.#record);
		this.#deps.onChanged(this);
	}
}

/** Archiving an archived deployment, or reviving an active one, changes nothing. */
function isNoChange({ status }: DeploymentRecord, patch: DeploymentPatch): boolean {
	return Object.keys(patch).every((field) => field === 'status' && patch.status === status);
}
