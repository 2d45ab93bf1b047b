import type { Actor } from '../actors/index.ts';
import { AppError, type Clock, elapsedMs, mergedFields } from '../base/index.ts';
import { type DeploymentPatch, mergeBudget } from '../contract/index.ts';
import { type Commit, type DeploymentRecord, requireVersion, type Store, type Write } from '../store/index.ts';
import { type Allowlist, createAllowlist } from './allowlist.ts';
import { requireVerificationKey, type TokenSettings } from './token-settings.ts';
import { noSuchDeployment, type VisibleDeployment } from './visible-deployment.ts';
import { type RenderedConfig, renderConfig } from './widget-config.ts';

export type DeploymentMessage =
	/** Reads the record again where it is not current. */
	| { type: 'read' }
	/** Reads the record again. */
	| { type: 'refresh' }
	/**
	 * `versions`: the versions that may be changed (If-Match); null: any. `writes`: committed with the change: its record in the
	 * audit log.
	 */
	| { type: 'change'; patch: DeploymentPatch; versions: readonly number[] | null; writes: Write[] };

export interface DeploymentDependencies {
	store: Pick<Store, 'commit' | 'get'>;
	clock: Clock;
	tokenSettings: TokenSettings;
	/** Called with each change once it is on disk, before the response, and with each change of another node once it is read. */
	onChanged(deployment: VisibleDeployment): void;
	/**
	 * Other nodes change deployments too: a record is current for so long after it was read (ms). Absent: only this process
	 * changes deployments.
	 */
	maxAgeMs?: number | undefined;
}

/** Attempts at one change when other nodes change the deployment too. */
const MAX_ATTEMPTS = 20;

/** One resident deployment: its settings as they are on disk, and what the hot routes need of them, rendered once. */
export class DeploymentActor implements Actor<DeploymentMessage, DeploymentRecord>, VisibleDeployment {
	/** Whether visitors see it. A field, so that requests of the configuration do not read the record. */
	active: boolean;
	#record: DeploymentRecord;
	#allowlist: Allowlist;
	#config: RenderedConfig;
	/** Until when the record is current (ms, monotonic). */
	#currentUntil: number;
	readonly #deps: DeploymentDependencies;

	/** @param readAt when the record was read, or earlier (ms, monotonic) */
	constructor(record: DeploymentRecord, readAt: number, deps: DeploymentDependencies) {
		this.#record = record;
		this.#currentUntil = readAt + (deps.maxAgeMs ?? Number.POSITIVE_INFINITY);
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

	/** Whether the record is as it is stored, or was within `maxAgeMs`. */
	get isCurrent(): boolean {
		const { maxAgeMs, clock } = this.#deps;
		return maxAgeMs === undefined || elapsedMs(clock) < this.#currentUntil;
	}

	async handle(message: DeploymentMessage): Promise<DeploymentRecord> {
		if (message.type === 'change') await this.#change(message);
		else if (message.type === 'refresh' || !this.isCurrent) await this.#refresh();
		return this.#record;
	}

	/** Decides from the stored record. After a conflict with another node it decides again. */
	async #change(message: Extract<DeploymentMessage, { type: 'change' }>): Promise<void> {
		if (this.#deps.maxAgeMs !== undefined) await this.#refresh();
		for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
			if (await this.#tryChange(message)) return;
			await this.#refresh();
		}
		throw new AppError('unavailable', 'The deployment is being changed by too many at once. Try again.', {
			retry_after: 1,
		});
	}

	/** Reads the record again. @throws AppError `not_found` where it is gone */
	async #refresh(): Promise<void> {
		const { store, clock, maxAgeMs = Number.POSITIVE_INFINITY, onChanged } = this.#deps;
		const readAt = elapsedMs(clock);
		const record = await store.get('deployments', this.#record.id);
		if (record === undefined) {
			this.active = false;
			throw noSuchDeployment();
		}
		this.#currentUntil = readAt + maxAgeMs;
		if (record.version === this.#record.version) return;
		this.#accept(record, createAllowlist(record.allowed_domains));
		onChanged(this);
	}

	#accept(record: DeploymentRecord, allowlist: Allowlist): void {
		this.#record = record;
		this.active = record.status === 'active';
		this.#allowlist = allowlist;
		this.#config = renderConfig(record);
	}

	/** @returns false where another node has changed the deployment meanwhile */
	async #tryChange({ patch, versions, writes }: Extract<DeploymentMessage, { type: 'change' }>): Promise<boolean> {
		requireVersion(this.#record, versions);
		if (isNoChange(this.#record, patch)) return true;
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
		const readAt = elapsedMs(this.#deps.clock);
		const outcome = await this.#deps.store.commit({
			expect: [{ kind: 'deployments', id: this.#record.id, version: this.#record.version }],
			write: [{ op: 'patch', kind: 'deployments', id: this.#record.id, set }, ...writes],
		} satisfies Commit);
		if (outcome.outcome === 'conflict' && outcome.id === this.#record.id) return false;
		// Not an AppError: the actor's memory is outdated, and the error discards the actor.
		if (outcome.outcome !== 'committed') throw new Error(`The deployment's change was refused (${outcome.outcome}).`);
		this.#accept({ ...this.#record, ...set, version: this.#record.version + 1 }, allowlist);
		this.#currentUntil = readAt + (this.#deps.maxAgeMs ?? Number.POSITIVE_INFINITY);
		this.#deps.onChanged(this);
		return true;
	}
}

/** Archiving an archived deployment, or reviving an active one, changes nothing. */
function isNoChange({ status }: DeploymentRecord, patch: DeploymentPatch): boolean {
	return Object.keys(patch).every((field) => field === 'status' && patch.status === status);
}
