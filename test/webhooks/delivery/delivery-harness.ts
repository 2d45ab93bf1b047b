import type { TestContext } from 'node:test';
import { ClockJumpDetector, createLog, newId, SecretBox } from '../../../src/base/index.ts';
import type { Network } from '../../../src/net/index.ts';
import { workerEntry } from '../../../src/pool/index.ts';
import { type DeliveryRecord, openSqliteStore, type Store, type WebhookRecord } from '../../../src/store/index.ts';
import { AttemptRunner } from '../../../src/webhooks/delivery/attempts.ts';
import { Deliverer } from '../../../src/webhooks/delivery/index.ts';
import { newSigningSecret, Sender, SigningSecrets } from '../../../src/webhooks/index.ts';
import { temporaryPlace } from '../../store/contract/life.ts';
import { type Overrides, withOverrides } from '../../store/overrides.ts';
import { event, NOON, webhook } from '../../store/samples.ts';
import { until } from '../../support/until.ts';
import { ManualNetwork } from './manual-network.ts';
import { ManualTime } from './manual-time.ts';

const secrets = new SigningSecrets(new SecretBox(Buffer.alloc(32, 3)));
const log = createLog('silent');
/** Each delivery is a commit on a disk that others may be busy with. */
export const SETTLE_TIMEOUT_MS = 120_000;
/** More than any test makes. */
const MAX_ROWS = 10_000;

type StoreOverrides = Overrides<Store> & Required<Pick<Overrides<Store>, 'deliveries' | 'events'>>;

/** The delivery engine on a real store, with its time, and unless the test brings one its network, in the test's hands. */
export interface DeliveryHarness {
	store: Store;
	/** What the engine is given in the place of the store's own. */
	storeOverrides: StoreOverrides;
	time: ManualTime;
	posts: ManualNetwork;
	deliverer: Deliverer;
	attempts: AttemptRunner;
	workspace: string;
	/** Begins to deliver. */
	start(): void;
	/** The process before has ended, as it may at any moment; another one begins. */
	restart(): Promise<void>;
	register(given?: Partial<WebhookRecord>): Promise<WebhookRecord>;
	/** Stores one event about each of these, in one commit; null: about no conversation. Resolves with their ids. */
	emit(subjects: readonly (string | null)[], type?: string): Promise<string[]>;
	/** In the order of the log. */
	deliveries(endpoint: Pick<WebhookRecord, 'id'>): Promise<DeliveryRecord[]>;
	/** Resolves once so many deliveries of an endpoint have this status. */
	untilStatus(
		endpoint: Pick<WebhookRecord, 'id'>,
		status: DeliveryRecord['status'],
		count: number,
	): Promise<DeliveryRecord[]>;
	change(delivery: Pick<DeliveryRecord, 'id'>, set: Partial<DeliveryRecord>): Promise<void>;
	setStatus(endpoint: Pick<WebhookRecord, 'id'>, status: WebhookRecord['status']): Promise<void>;
}

export async function deliveryHarness(
	t: TestContext,
	{ network }: { network?: Pick<Network, 'post'> } = {},
): Promise<DeliveryHarness> {
	const store = await openSqliteStore({ dataDir: await temporaryPlace(t), writer: workerEntry('store') });
	const time = new ManualTime(NOON);
	const posts = new ManualNetwork();
	const workspace = newId('workspace');
	const storeOverrides: StoreOverrides = { deliveries: {}, events: {} };
	const given = withOverrides(store, storeOverrides);
	const sender = new Sender({ network: network ?? posts, secrets, clock: time });
	const options = { store: given, sender, clock: time, log, random: () => 0.5 };
	const engine = () => new Deliverer({ ...options, jumpDetector: new ClockJumpDetector(time), timers: time });
	const deliveries = (endpoint: Pick<WebhookRecord, 'id'>) =>
		store
			.list('deliveries', { where: { webhook_id: endpoint.id }, order: 'asc', limit: MAX_ROWS })
			.then((all) => all.sort((one, other) => one.event_seq - other.event_seq));
	const scene: DeliveryHarness = {
		store,
		storeOverrides,
		time,
		posts,
		workspace,
		deliverer: engine(),
		attempts: new AttemptRunner({ ...options, onFenced() {} }),
		start: () => scene.deliverer.start(),
		async restart() {
			await scene.deliverer[Symbol.asyncDispose]();
			scene.deliverer = engine();
			scene.deliverer.start();
		},
		async register(given = {}) {
			const sealed = secrets.initial(newSigningSecret());
			const record = { version: 1, ...webhook({ workspace_id: workspace, events: ['*'], ...sealed, ...given }) };
			await store.commit({ write: [{ op: 'insert', kind: 'webhooks', record }] });
			return record;
		},
		async emit(subjects, type = 'message.created') {
			const created_at = time.now();
			const events = subjects.map((subject, n) => ({ ...event(workspace, type, { n, subject }), subject, created_at }));
			await store.commit({ events });
			return events.map(({ id }) => id);
		},
		deliveries,
		untilStatus: (endpoint, status, count) =>
			until(
				`${count} deliveries are ${status}`,
				async () => {
					const all = await deliveries(endpoint);
					return all.filter((delivery) => delivery.status === status).length >= count && all;
				},
				SETTLE_TIMEOUT_MS,
			),
		async change({ id }, set) {
			await store.commit({ write: [{ op: 'patch', kind: 'deliveries', id, set }] });
		},
		async setStatus({ id }, status) {
			await store.commit({
				write: [
					{ op: 'patch', kind: 'webhooks', id, set: { status } },
					...(status === 'active' ? [{ op: 'clear_failures', webhook_id: id } as const] : []),
				],
			});
		},
	};
	t.after(async () => {
		await scene.deliverer[Symbol.asyncDispose]();
		await store[Symbol.asyncDispose]();
	});
	return scene;
}
