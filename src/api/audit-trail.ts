import type { Caller } from '../access/index.ts';
import { type Clock, kindOfId, newId } from '../base/index.ts';
import { isAudited, type Operation, operationIdOf } from '../contract/index.ts';
import type { HttpRequest } from '../http/index.ts';
import { type AuditRecord, requireCommitted, type Store, type Write } from '../store/index.ts';
import { VersionedResult } from './call.ts';

/** How long a record of the audit log is kept (ms). */
const LIFETIME_MS = 400 * 24 * 3_600_000;
const MAX_NAME = 200;
const MAX_PATH = 500;

/** Who makes a change. */
export type AuditActor = Pick<AuditRecord, 'workspace_id' | 'actor_type' | 'actor_id' | 'actor_name'>;

export interface AuditTrailOptions {
	store: Pick<Store, 'commit'>;
	clock: Clock;
}

/** The caller of a request as the audit log names it. */
export function auditActorOf({ workspaceId, credentialId, name, userSession }: Caller): AuditActor {
	const actor = userSession
		? { actor_type: 'user' as const, actor_id: userSession.user.id }
		: { actor_type: 'api_key' as const, actor_id: credentialId };
	return { workspace_id: workspaceId, ...actor, actor_name: name };
}

/** The audit trail of one request: makes the record of its change, for the commit of the change. */
export class AuditTrail {
	readonly #operation: Operation;
	readonly #request: HttpRequest;
	readonly #input: { query: unknown; body: unknown };
	readonly #options: AuditTrailOptions;
	#isTaken = false;

	constructor(
		operation: Operation,
		request: HttpRequest,
		input: { query: unknown; body: unknown },
		options: AuditTrailOptions,
	) {
		this.#operation = operation;
		this.#request = request;
		this.#input = input;
		this.#options = options;
	}

	/**
	 * The write that records the change; none for an operation that is not audited.
	 * @param resource what was changed: the result of the operation, or an object with an id and a name
	 * @param action what is recorded; default: the operation
	 * @param fields the names of the fields that change; default: those of the request
	 */
	writes(
		actor: AuditActor,
		resource: unknown,
		action = operationIdOf(this.#operation),
		fields: readonly string[] = [...namesIn(this.#input.query), ...namesIn(this.#input.body)],
	): Write[] {
		if (!isAudited(this.#operation)) return [];
		this.#isTaken = true;
		const now = this.#options.clock.now();
		const record: Omit<AuditRecord, 'version'> = {
			id: newId('audit_record'),
			...actor,
			action,
			...this.#resourceOf(resource, actor.workspace_id),
			fields: [...fields],
			path: this.#request.path.slice(0, MAX_PATH),
			request_id: this.#request.id,
			address: this.#request.clientAddress,
			created_at: now,
			expires_at: now + LIFETIME_MS,
			details: null,
		};
		return [{ op: 'insert', kind: 'audit_log', record }];
	}

	/** The commit of the change will carry the record. A change that turns out to change nothing leaves none. */
	take(): void {
		this.#isTaken = true;
	}

	/** Records what has been done, where no commit of a change carried the record: the operation acts outside of the store. */
	async recordAfterwards(actor: AuditActor, result: unknown): Promise<void> {
		if (this.#isTaken) return;
		const write = this.writes(actor, result);
		if (write.length > 0) requireCommitted(await this.#options.store.commit({ write }));
	}

	/** The resource is that of the result, else the last one of the path, else the workspace. */
	#resourceOf(
		shown: unknown,
		workspaceId: string,
	): Pick<AuditRecord, 'resource_type' | 'resource_id' | 'resource_name'> {
		const result: unknown = shown instanceof VersionedResult ? shown.result : shown;
		const { id, name, title } = (result ?? {}) as { id?: unknown; name?: unknown; title?: unknown };
		const [, last] = Object.entries(this.#request.params).at(-1) ?? [];
		const resource_id = typeof id === 'string' ? id : (last ?? workspaceId);
		const resource_type = kindOfId(resource_id);
		// Visitors write the titles of conversations: they are erased with them.
		const label = resource_type === 'conversation' || resource_type === 'message' ? null : (name ?? title);
		return { resource_type, resource_id, resource_name: typeof label === 'string' ? label.slice(0, MAX_NAME) : null };
	}
}

function namesIn(value: unknown): string[] {
	return typeof value === 'object' && value !== null ? Object.keys(value) : [];
}
