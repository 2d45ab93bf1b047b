import { workspaceGuardParts } from '../access/index.ts';
import { AppError, type Clock, mergedFields, newId, type SecretBox, timestamp } from '../base/index.ts';
import type { Operations, Webhook } from '../contract/index.ts';
import type { Network } from '../net/index.ts';
import {
	aroundCommit,
	expectVersion,
	prepareChange,
	requireVersion,
	type Store,
	type WebhookRecord,
	type Write,
} from '../store/index.ts';
import {
	CANCEL_BATCH_SIZE,
	type Deliverer,
	isSecretCleared,
	newSigningSecret,
	Pings,
	requireEndpoint,
	requireSigningSecret,
	Sender,
	SigningSecrets,
} from '../webhooks/index.ts';
import { type Handler, withVersion } from './call.ts';
import { byCreation, type Cursors } from './cursors.ts';

type WebhookOperation =
	| 'listWebhooks'
	| 'createWebhook'
	| 'getWebhook'
	| 'updateWebhook'
	| 'deleteWebhook'
	| 'rotateWebhookSecret'
	| 'testWebhook';

export interface WebhookHandlersOptions {
	store: Store;
	network: Pick<Network, 'checkUrl' | 'post'>;
	secrets: SecretBox;
	cursors: Cursors;
	clock: Clock;
	deliverer: Pick<Deliverer, 'cancelAll' | 'cleanUp' | 'wake'>;
}

/** Endpoints of one workspace. Every event is stored and sent once for each of them. */
const MAX_WEBHOOKS = 50;

/** A webhook endpoint as the API shows it, without its secret. */
export function presentWebhook(record: WebhookRecord): Webhook {
	return {
		id: record.id,
		url: record.url,
		events: record.events as Webhook['events'],
		description: record.description,
		status: record.status,
		disabled_reason: record.disabled_reason,
		created_at: timestamp(record.created_at),
		updated_at: timestamp(record.updated_at),
	};
}

/** @throws AppError `not_found` also for another workspace's */
export async function findWebhook(store: Pick<Store, 'get'>, workspaceId: string, id: string): Promise<WebhookRecord> {
	const record = await store.get('webhooks', id);
	if (record?.workspace_id !== workspaceId) throw new AppError('not_found', 'The webhook does not exist.');
	return record;
}

/** Webhook endpoints: register, read, change, delete, and try out. */
export function webhookHandlers(options: WebhookHandlersOptions): {
	[K in WebhookOperation]: Handler<Operations[K]>;
} {
	const { store, network, secrets: box, cursors, clock, deliverer } = options;
	const secrets = new SigningSecrets(box);
	const pings = new Pings(new Sender({ network, secrets, clock }));

	const find = (workspaceId: string, id: string) => findWebhook(store, workspaceId, id);

	/** Commit parts that guard the number of a workspace's endpoints. @throws AppError `plan_limit_exceeded` at the limit */
	async function requireWebhookCapacity(workspace_id: string) {
		const guard = await workspaceGuardParts(store, workspace_id);
		const existing = await store.list('webhooks', { where: { workspace_id }, order: 'asc', limit: MAX_WEBHOOKS });
		if (existing.length < MAX_WEBHOOKS) return guard;
		const message = `A workspace has at most ${MAX_WEBHOOKS} webhook endpoints, disabled ones included.`;
		throw new AppError('plan_limit_exceeded', message);
	}

	return {
		async listWebhooks({ caller, query }) {
			const list = `webhooks ${caller.workspaceId}`;
			const page = cursors.read(list, query);
			const records = await store.list('webhooks', {
				...page,
				limit: page.limit + 1,
				where: { workspace_id: caller.workspaceId },
			});
			return cursors.page(list, page, records, byCreation, presentWebhook);
		},

		async createWebhook({ caller, body, commit }) {
			requireEndpoint(body, network);
			const signing_secret = newSigningSecret();
			const now = clock.now();
			const record: WebhookRecord = {
				id: newId('webhook'),
				version: 1,
				workspace_id: caller.workspaceId,
				url: body.url,
				events: body.events,
				description: body.description ?? null,
				status: 'active',
				disabled_reason: null,
				...secrets.initial(signing_secret),
				created_at: now,
				updated_at: now,
			};
			const change = prepareChange(store, async () => {
				const { expect, write } = await requireWebhookCapacity(caller.workspaceId);
				return {
					commit: { expect, write: [...write, { op: 'insert', kind: 'webhooks', record }] },
					result: record,
				};
			});
			return commit(change, (created) => withVersion({ ...presentWebhook(created), signing_secret }, created));
		},

		async getWebhook({ caller, params }) {
			const record = await find(caller.workspaceId, params.id);
			return withVersion(presentWebhook(record), record);
		},

		async updateWebhook({ caller, params, body, ifMatchVersions, commit }) {
			let previous: WebhookRecord | undefined;
			const change = prepareChange(store, async () => {
				const record = await find(caller.workspaceId, params.id);
				requireVersion(record, ifMatchVersions);
				const { secret, ...fields } = body;
				requireEndpoint(fields, network);
				if (secret !== undefined) requireSigningSecret(secret);
				else if (fields.status === 'active') requireSecret(record);
				if (record.status === 'disabled' && fields.status === 'active') await deliverer.cancelAll(record);
				const now = clock.now();
				const set = {
					...mergedFields(record, fields),
					...disabledReason(record, fields.status),
					...(secret === undefined ? {} : secrets.rotate(record, secret, now)),
					updated_at: now,
				};
				const next: WebhookRecord = { ...record, ...set, version: record.version + 1 };
				previous = record;
				return {
					commit: {
						expect: [expectVersion('webhooks', record)],
						write: [{ op: 'patch', kind: 'webhooks', id: record.id, set }, ...deliveryWrites(record, next, now)],
					},
					result: next,
				};
			});
			const afterwards = aroundCommit(change, async (commitChange) => {
				const webhook = await commitChange();
				if (previous && becomesDisabled(previous, webhook)) deliverer.cleanUp();
				if (previous && resetsFailures(previous, webhook)) deliverer.wake(webhook.id, { resetHealth: true });
				return webhook;
			});
			return commit(afterwards, (webhook) => withVersion(presentWebhook(webhook), webhook));
		},

		async deleteWebhook({ caller, params, ifMatchVersions, commit }) {
			const change = prepareChange(store, async () => {
				const record = await find(caller.workspaceId, params.id);
				requireVersion(record, ifMatchVersions);
				return {
					commit: {
						expect: [expectVersion('webhooks', record)],
						write: [
							{ op: 'remove', kind: 'webhooks', id: record.id },
							{ op: 'erase_deliveries', webhook_id: record.id, limit: CANCEL_BATCH_SIZE },
						],
					},
					result: record,
				};
			});
			const deleted = await commit(change, ({ id }) => ({ id, deleted: true as const }));
			deliverer.cleanUp();
			return deleted;
		},

		rotateWebhookSecret({ caller, params, ifMatchVersions, commit }) {
			const new_secret = newSigningSecret();
			const change = prepareChange(store, async () => {
				const record = await find(caller.workspaceId, params.id);
				requireVersion(record, ifMatchVersions);
				const now = clock.now();
				const set = { ...secrets.rotate(record, new_secret, now), updated_at: now };
				return {
					commit: {
						expect: [expectVersion('webhooks', record)],
						write: [{ op: 'patch', kind: 'webhooks', id: record.id, set }],
					},
					result: { new_secret },
				};
			});
			return commit(change, (result) => result);
		},

		async testWebhook({ caller, params }) {
			const record = await find(caller.workspaceId, params.id);
			return pings.send(record, clock.now());
		},
	};
}

/** @throws AppError `invalid_request` where the secret was erased: the receiver could not verify deliveries */
function requireSecret(record: WebhookRecord): void {
	if (!isSecretCleared(record)) return;
	const message =
		'cannot be active: the signing secret was removed when the secret key was reset. Rotate the secret first';
	throw new AppError('invalid_request', `/status ${message}.`, { details: [{ path: '/status', message }] });
}

/** The reason of a status. An endpoint that was disabled already keeps its reason. */
function disabledReason(
	{ status: previous }: WebhookRecord,
	status: Webhook['status'] | undefined,
): Partial<Pick<WebhookRecord, 'disabled_reason'>> {
	if (status === undefined || status === previous) return {};
	return { disabled_reason: status === 'active' ? null : 'Disabled through the API.' };
}

/** The effects of an endpoint's change on its deliveries. */
function deliveryWrites(previous: WebhookRecord, next: WebhookRecord, now: number): Write[] {
	const writes: Write[] = [];
	if (becomesDisabled(previous, next)) {
		writes.push({ op: 'cancel_deliveries', webhook_id: next.id, at: now, limit: CANCEL_BATCH_SIZE });
	}
	if (resetsFailures(previous, next)) writes.push({ op: 'clear_failures', webhook_id: next.id });
	return writes;
}

function becomesDisabled(previous: WebhookRecord, { status }: WebhookRecord): boolean {
	return previous.status === 'active' && status === 'disabled';
}

/** After a revival or a change of the URL, earlier failures no longer count. */
function resetsFailures(previous: WebhookRecord, { status, url }: WebhookRecord): boolean {
	return url !== previous.url || (previous.status === 'disabled' && status === 'active');
}
