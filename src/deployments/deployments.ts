import { ActorSystem } from '../actors/index.ts';
import {
	AppError,
	type Clock,
	elapsedMs,
	isId,
	type Log,
	messageOf,
	newId,
	PeriodicTask,
	timestamp,
} from '../base/index.ts';
import {
	type Deployment,
	type DeploymentCreate,
	type DeploymentPatch,
	HIDDEN_SECRET,
	mergeBudget,
} from '../contract/index.ts';
import {
	type DeploymentRecord,
	prepareChange,
	type Store,
	type UncommittedChange,
	type Write,
} from '../store/index.ts';
import { createAllowlist } from './allowlist.ts';
import { appearanceOf, featuresOf } from './appearance.ts';
import { DeploymentActor, type DeploymentMessage } from './deployment-actor.ts';
import { requireVerificationKey, type TokenSettings } from './token-settings.ts';
import { noSuchDeployment, type VisibleDeployment } from './visible-deployment.ts';
import { type RemoteVisitorLimits, VisitorLimits } from './visitor-limits.ts';
import { type StreamVisit, type VisitorStream, VisitorStreams } from './visitor-streams.ts';

export interface DeploymentsOptions {
	store: Store;
	clock: Clock;
	log: Log;
	tokenSettings: TokenSettings;
	/**
	 * For a cluster: a deployment in memory that was read longer ago (ms) is read again before it is used, and those with open
	 * streams are read again at this interval. Absent: only this process changes deployments.
	 */
	maxAgeMs?: number | undefined;
	/** For a cluster: counts the requests of visitors where another node owns the deployment. */
	remoteLimits?: RemoteVisitorLimits | undefined;
}

/** Deployments in memory, about 2 KB each: a server with that many active deployments has the memory, too. */
const MAX_RESIDENT = 120_000;
const PASSIVATE_AFTER_MS = 10 * 60_000;
const ACTOR_TIMEOUT_MS = 10_000;
/** Deployments whose versions are read at once. */
const VERSIONS_PER_QUERY = 1_000;

/** A deployment as the API shows it. */
export function presentDeployment(record: DeploymentRecord): Deployment {
	return {
		id: record.id,
		name: record.name,
		assistant_id: record.assistant_id,
		allowed_domains: record.allowed_domains,
		appearance: appearanceOf(record),
		features: featuresOf(record),
		rate_limit: record.rate_limit,
		time_zone: record.time_zone,
		jwt: record.jwt && { ...record.jwt, secret: record.jwt.secret === null ? null : HIDDEN_SECRET },
		status: record.status,
		budget: record.budget,
		visitor_budget: record.visitor_budget,
		retention_days: record.retention_days,
		created_at: timestamp(record.created_at),
		updated_at: timestamp(record.updated_at),
	};
}

/** Deployments, each owned by an actor that holds what the public routes need. */
export class Deployments implements AsyncDisposable {
	readonly limits: VisitorLimits;
	readonly #streams: VisitorStreams;
	readonly #store: Store;
	readonly #clock: Clock;
	readonly #tokenSettings: TokenSettings;
	readonly #actors: ActorSystem<DeploymentMessage, DeploymentRecord>;
	/** Reads in flight, by deployment. */
	readonly #reads = new Map<string, Promise<unknown>>();
	readonly #maxAgeMs: number | undefined;
	/** Finds what other nodes have changed. */
	readonly #changeCheck: PeriodicTask | undefined;

	constructor({ store, clock, log, tokenSettings, maxAgeMs, remoteLimits }: DeploymentsOptions) {
		this.#store = store;
		this.#clock = clock;
		this.#tokenSettings = tokenSettings;
		this.#maxAgeMs = maxAgeMs;
		this.limits = new VisitorLimits(clock, remoteLimits);
		this.#streams = new VisitorStreams({ clock, log });
		this.#actors = new ActorSystem({
			load: (id) => this.#load(id),
			reportFailure: (id, thrown) => log.error({ deployment: id, error: messageOf(thrown) }, 'deployment actor failed'),
			maxResident: MAX_RESIDENT,
			idleMs: PASSIVATE_AFTER_MS,
		});
		if (maxAgeMs === undefined) return;
		this.#changeCheck = new PeriodicTask({
			intervalMs: maxAgeMs,
			run: (signal) => this.#readChanged(signal),
			onFailure: (err) => log.warn({ err }, 'the deployments with open streams could not be checked'),
		});
		this.#changeCheck.start();
	}

	/** The actors in memory, and the messages that wait for them. */
	get actorCounts(): { residents: number; waiting: number } {
		return { residents: this.#actors.residents, waiting: this.#actors.waiting };
	}

	/** The deployment where it is resident, current and active. Undefined does not mean that there is none: then call `visible`. */
	peekVisible(id: string): VisibleDeployment | undefined {
		const actor = this.#peek(id);
		if (!actor?.active || (this.#maxAgeMs !== undefined && !actor.isCurrent)) return undefined;
		return actor;
	}

	/**
	 * An active deployment, for visitors and for new messages.
	 * @throws AppError `not_found` also for an archived one
	 */
	async visible(id: string): Promise<VisibleDeployment> {
		if (!isId('deployment', id)) throw noSuchDeployment();
		if (!this.#peek(id)?.isCurrent) await this.#read(id);
		// Not `peekVisible`: what was read in time is used, however long the answer took.
		const actor = this.#peek(id);
		if (!actor?.active) throw noSuchDeployment();
		return actor;
	}

	/**
	 * Begins an event stream of an admitted visit. It ends when the visitor's token expires, and when a change of the deployment
	 * means that the visit would no longer be admitted. It must be ended.
	 * @throws AppError `rate_limit_exceeded` when the visitor has too many streams open
	 */
	openStream(visit: StreamVisit): VisitorStream {
		const stream = this.#streams.open(visit);
		const { id } = visit.deployment;
		// The deployment may have changed between the admission and now.
		if (this.#peek(id)?.record !== visit.deployment) this.#streams.recheck(stream, this.visible(id));
		return stream;
	}

	/** @throws AppError `not_found` for an unknown assistant, `invalid_request` for a wrong domain or key */
	create(workspaceId: string, input: DeploymentCreate): UncommittedChange<DeploymentRecord> {
		return prepareChange(this.#store, async () => {
			createAllowlist(input.allowed_domains ?? []);
			const features = { streaming: true, rich_content: true, jwt_required: false, ...input.features };
			const jwt = this.#tokenSettings.merge(null, input.jwt ?? null);
			requireVerificationKey(features, jwt);
			const assistant = await this.#store.get('assistants', input.assistant_id);
			if (assistant?.workspace_id !== workspaceId) throw new AppError('not_found', 'The assistant does not exist.');
			const now = this.#clock.now();
			const record: DeploymentRecord = {
				id: newId('deployment'),
				version: 1,
				workspace_id: workspaceId,
				name: input.name ?? assistant.name,
				assistant_id: assistant.id,
				allowed_domains: input.allowed_domains ?? [],
				appearance: {
					primary_color: '#4f46e5',
					theme: 'light',
					position: 'bottom-right',
					greeting: 'Hi! How can I help you?',
					suggested_questions: [],
					...input.appearance,
				},
				features,
				rate_limit: { messages_per_minute: 20, ...input.rate_limit },
				time_zone: input.time_zone ?? 'UTC',
				jwt,
				status: 'active',
				budget: mergeBudget(null, input.budget ?? null, '/budget'),
				visitor_budget: mergeBudget(null, input.visitor_budget ?? null, '/visitor_budget'),
				retention_days: input.retention_days ?? null,
				created_at: now,
				updated_at: now,
			};
			return { commit: { write: [{ op: 'insert', kind: 'deployments', record }] }, result: record };
		});
	}

	/**
	 * Changes a deployment; the next request sees it.
	 * @param writes committed with the change: its record in the audit log
	 * @throws AppError `not_found` also for another workspace's, `invalid_request` for a wrong domain or key
	 */
	async change(
		workspaceId: string,
		id: string,
		patch: DeploymentPatch,
		versions: readonly number[] | null = null,
		writes: Write[] = [],
	): Promise<DeploymentRecord> {
		// Before the actor is asked: whether it is busy must not show other workspaces which ids exist.
		const record = isId('deployment', id) ? await this.#store.get('deployments', id) : undefined;
		if (record?.workspace_id !== workspaceId) throw noSuchDeployment();
		return this.#actors.ask(id, { type: 'change', patch, versions, writes }, { deadlineMs: ACTOR_TIMEOUT_MS });
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#streams[Symbol.dispose]();
		await this.#changeCheck?.[Symbol.asyncDispose]();
		await this.#actors[Symbol.asyncDispose]();
	}

	#peek(id: string): DeploymentActor | undefined {
		return this.#actors.activeActor(id) as DeploymentActor | undefined;
	}

	/** Loads a deployment, or reads it again. Concurrent requests share one message to its actor. */
	#read(id: string): Promise<unknown> {
		let read = this.#reads.get(id);
		if (!read) {
			// A copy: the id is a slice of a request's text, and would keep all of that text in memory.
			const copy = Buffer.from(id, 'latin1').toString('latin1');
			read = this.#actors
				.ask(copy, { type: 'read' }, { deadlineMs: ACTOR_TIMEOUT_MS })
				.finally(() => this.#reads.delete(copy));
			this.#reads.set(copy, read);
		}
		return read;
	}

	/** Reads the deployments again that have open streams and were changed by another node. Their streams are rechecked. */
	async #readChanged(signal: AbortSignal): Promise<void> {
		const ids = this.#streams.deploymentIds();
		for (let from = 0; from < ids.length && !signal.aborted; from += VERSIONS_PER_QUERY) {
			const page = ids.slice(from, from + VERSIONS_PER_QUERY);
			const versions = await this.#store.versionsOf('deployments', page);
			const changed = page.filter((id) => this.#peek(id)?.record.version !== versions.get(id));
			await Promise.all(changed.map((id) => this.#readAgain(id)));
		}
	}

	/** Never rejects: the next check finds what this one could not read. */
	async #readAgain(id: string): Promise<void> {
		try {
			await this.#actors.ask(id, { type: 'refresh' }, { deadlineMs: ACTOR_TIMEOUT_MS });
		} catch (error) {
			if (error instanceof AppError && error.code === 'not_found') this.#streams.revokeAll(id);
		}
	}

	async #load(id: string): Promise<DeploymentActor> {
		const readAt = elapsedMs(this.#clock);
		const record = await this.#store.get('deployments', id);
		if (!record) throw noSuchDeployment();
		const actor = new DeploymentActor(record, readAt, {
			store: this.#store,
			clock: this.#clock,
			tokenSettings: this.#tokenSettings,
			onChanged: (deployment) => this.#streams.recheckAll(deployment),
			maxAgeMs: this.#maxAgeMs,
		});
		// Another process may have changed it while it was not in memory.
		this.#streams.recheckAll(actor);
		return actor;
	}
}
