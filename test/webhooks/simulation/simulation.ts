import { ClockJumpDetector, createLog, newId, SecretBox } from '../../../src/base/index.ts';
import type { DeliveryRecord, Store, WebhookRecord, Write } from '../../../src/store/index.ts';
import { Deliverer, retryPatch } from '../../../src/webhooks/delivery/index.ts';
import { newSigningSecret, replayEvents, Sender, SigningSecrets } from '../../../src/webhooks/index.ts';
import { webhook as webhookSample } from '../../store/samples.ts';
import { Random } from '../../support/random.ts';
import { FakeTime } from './fake-time.ts';
import { type Received, Receivers } from './receivers.ts';
import { openDisk, SimulatedStore } from './simulated-store.ts';

export const HOUR = 3_600_000;
const START = Date.UTC(2026, 10, 20, 12);
const WORKSPACE = 'ws_simulated';
const TYPES = ['message.created', 'conversation.updated', 'assistant.updated'] as const;
const CONVERSATIONS = ['conv_a', 'conv_b', null] as const;
/** Things happen for so long; afterwards only time passes, until nothing can be due any more. */
const ACTIVE_HOURS = 190;
const QUIET_HOURS = 90;

const secrets = new SigningSecrets(new SecretBox(Buffer.alloc(32, 7)));
const sealed = secrets.initial(newSigningSecret());
const log = createLog('silent');

/** An endpoint as the script knows it. */
interface KnownEndpoint {
	id: string;
	/** Every URL that it had. */
	urls: string[];
	/** Since when it was, for all that the script knows, disabled; until when. */
	disabled: { from: number; to: number }[];
	deleted: boolean;
}

/** What happened in one run, and what is left at its end. */
export interface SimulationResult {
	endpoints: KnownEndpoint[];
	/** Which endpoints every event that was stored must go to. */
	expected: { seq: number; webhook_id: string }[];
	/** When a person asked for deliveries to be made again, by delivery; for replays, by endpoint. */
	requested: { of: string; at: number }[];
	/** What waited when a person disabled its endpoint, and when that was. */
	cancelled: { of: string; at: number }[];
	/** From a crash to the end of the start after it. */
	downtimes: { from: number; to: number }[];
	received: Received[];
	deliveries: DeliveryRecord[];
	webhooks: Map<string, WebhookRecord>;
	failingSince: Map<string, number | null>;
	attemptRows: Map<string, number>;
	endedAt: number;
}

/** One life of the server: it ends by a crash. */
interface ServerRun {
	store: SimulatedStore;
	deliverer: Deliverer;
	crash(): void;
}

/** A simulation from a seed: events, receivers with changing behaviour, people who change endpoints, and a server that crashes. */
export class Simulation {
	readonly #random: Random;
	readonly #time = new FakeTime(START);
	readonly #disk = openDisk();
	readonly #receivers: Receivers;
	readonly #endpoints: KnownEndpoint[] = [];
	readonly #expected: SimulationResult['expected'] = [];
	readonly #requested: SimulationResult['requested'] = [];
	readonly #cancelled: SimulationResult['cancelled'] = [];
	readonly #downtimes: SimulationResult['downtimes'] = [];
	#process: ServerRun;

	constructor(seed: number) {
		this.#random = new Random(seed);
		this.#receivers = new Receivers(this.#time, this.#random);
		this.#process = this.#start();
	}

	async run(): Promise<SimulationResult> {
		for (let count = this.#random.between(1, 3); count > 0; count--) await this.#addEndpoint();
		const end = START + ACTIVE_HOURS * HOUR;
		while (this.#time.now() < end) {
			await this.#time.runUntil(this.#time.now() + this.#pause());
			await this.#randomAction();
		}
		await this.#time.runUntil(this.#time.now() + QUIET_HOURS * HOUR);
		return this.#outcome();
	}

	/** Much at once, then nothing for hours. */
	#pause(): number {
		const dice = this.#random.next();
		if (dice < 0.25) return this.#random.between(0, 20);
		return dice < 0.45 ? this.#random.between(0, 2_000) : this.#random.between(1, 30 * HOUR);
	}

	async #randomAction(): Promise<void> {
		const dice = this.#random.next();
		if (dice < 0.6) await this.#emit();
		else if (dice < 0.75) await this.#crash();
		else if (dice < 0.81) await this.#switch('disabled');
		else if (dice < 0.87) await this.#switch('active');
		else if (dice < 0.91) await this.#retry();
		else if (dice < 0.94) await this.#replay();
		else if (dice < 0.97) await this.#edit();
		else if (dice < 0.98) await this.#delete();
		else await this.#addEndpoint();
	}

	#start(): ServerRun {
		const time = this.#time;
		const timers = time.process();
		const store = new SimulatedStore(this.#disk, time, this.#random);
		let crashed = false;
		const network = this.#receivers.network(() => crashed);
		const deliverer = new Deliverer({
			store: store as unknown as Store,
			sender: new Sender({ network, secrets, clock: time }),
			clock: time,
			jumpDetector: new ClockJumpDetector(time),
			log,
			timers,
			random: () => this.#random.next(),
		});
		deliverer.start();
		return {
			store,
			deliverer,
			crash() {
				crashed = true;
				store.crash();
				timers.end();
				// Only for its timers: nothing that it does reaches the disk or the network.
				void deliverer[Symbol.asyncDispose]();
			},
		};
	}

	async #crash(): Promise<void> {
		const from = this.#time.now();
		this.#process.crash();
		await this.#time.runUntil(
			from + (this.#random.chance(0.7) ? this.#random.between(1, 5_000) : this.#random.between(1, 30 * HOUR)),
		);
		this.#process = this.#start();
		this.#downtimes.push({ from, to: this.#time.now() });
	}

	/** Carries out a commit; now and then the server crashes before anybody knows whether it was. */
	async #commit(commit: Parameters<SimulatedStore['commit']>[0]): Promise<void> {
		const done = this.#process.store.commit(commit);
		if (this.#random.chance(0.1)) {
			await this.#time.runUntil(this.#time.now() + this.#random.between(0, 8));
			await this.#crash();
			return;
		}
		await this.#time.runUntil(this.#time.now() + 10);
		await done;
	}

	#read<T>(sql: string, ...values: unknown[]): T[] {
		return this.#disk.prepare(sql).all(...values) as T[];
	}

	async #emit(): Promise<void> {
		const type = this.#random.pick(TYPES);
		const subject = this.#random.pick(CONVERSATIONS);
		const subscribed = () =>
			this.#read<{ id: string }>(
				`SELECT id FROM webhooks WHERE status = 'active' AND (events LIKE '%"*"%' OR events LIKE ?)`,
				`%"${type}"%`,
			).map((row) => row.id);
		const before = subscribed();
		const now = this.#time.now();
		const count = this.#random.chance(0.06) ? 6 : 1;
		const events = Array.from({ length: count }, () => {
			const data = { text: `“${this.#random.next()}” \u{1f9ed}`, nested: { b: 1, a: null } };
			return { id: newId('event'), stream: WORKSPACE, type, data, subject, created_at: now };
		});
		await this.#commit({ events });
		const stored = this.#read<{ seq: number }>('SELECT seq FROM events WHERE created_at = ? AND type = ?', now, type);
		const after = new Set(subscribed());
		for (const { seq } of stored) {
			for (const webhook_id of before) if (after.has(webhook_id)) this.#expected.push({ seq, webhook_id });
		}
	}

	async #addEndpoint(): Promise<void> {
		if (this.#endpoints.length >= 4) return;
		const events = this.#random.pick([
			['*'],
			['*'],
			['message.created'],
			['conversation.updated', 'assistant.updated'],
		]);
		const url = this.#url();
		const record = webhookSample({ workspace_id: WORKSPACE, url, events, ...sealed, created_at: this.#time.now() });
		this.#endpoints.push({ id: record.id, urls: [url], disabled: [], deleted: false });
		await this.#commit({ write: [{ op: 'insert', kind: 'webhooks', record }] });
	}

	#url(): string {
		const url = `https://receiver.example/${newId('request')}`;
		this.#receivers.add(url, ACTIVE_HOURS);
		return url;
	}

	async #switch(status: 'active' | 'disabled'): Promise<void> {
		const endpoint = this.#randomEndpoint();
		if (!endpoint) return;
		const [stored] = this.#read<WebhookRecord>('SELECT * FROM webhooks WHERE id = ?', endpoint.id);
		if (!stored || stored.status === status) return;
		if (status === 'active') await this.#endWaiting(endpoint.id);
		const at = this.#time.now();
		const waiting = this.#read<{ id: string }>(
			"SELECT id FROM deliveries WHERE webhook_id = ? AND status = 'pending'",
			endpoint.id,
		);
		const write: Write[] =
			status === 'active'
				? [{ op: 'clear_failures', webhook_id: endpoint.id }]
				: [{ op: 'cancel_deliveries', webhook_id: endpoint.id, at, limit: 2 }];
		const set = { status, disabled_reason: status === 'active' ? null : 'Disabled through the API.' };
		if (status === 'active') {
			const byServer = stored.disabled_reason?.startsWith('Every attempt') ?? false;
			// Attempts that were running when the server disabled it may still end.
			if (byServer) endpoint.disabled.push({ from: stored.updated_at, to: at });
			else this.#closeDisabled(endpoint, at);
		}
		await this.#commit({ write: [{ op: 'patch', kind: 'webhooks', id: endpoint.id, set }, ...write] });
		const [now] = this.#read<WebhookRecord>('SELECT * FROM webhooks WHERE id = ?', endpoint.id);
		if (now?.status === 'disabled' && status === 'disabled') {
			endpoint.disabled.push({ from: this.#time.now(), to: Number.POSITIVE_INFINITY });
			this.#cancelled.push(...waiting.map(({ id }) => ({ of: id, at: this.#time.now() })));
			this.#process.deliverer.cleanUp();
		} else this.#process.deliverer.wake(endpoint.id);
	}

	/** As the API does before it revives an endpoint. */
	async #endWaiting(id: string): Promise<void> {
		const { store, deliverer } = this.#process;
		const stored = await store.get('webhooks', id);
		if (!stored) return;
		const ending = deliverer.cancelAll(stored);
		await this.#time.runUntil(this.#time.now() + 100);
		await ending;
	}

	#closeDisabled(endpoint: KnownEndpoint, at: number): void {
		const last = endpoint.disabled.at(-1);
		if (last && last.to === Number.POSITIVE_INFINITY) last.to = at;
	}

	async #retry(): Promise<void> {
		const [delivery] = this.#read<DeliveryRecord>(
			`SELECT * FROM deliveries WHERE webhook_id IN (SELECT id FROM webhooks WHERE status = 'active')
			 AND status <> 'pending' ORDER BY id LIMIT 1 OFFSET ?`,
			this.#random.between(0, 10),
		);
		if (!delivery) return;
		this.#requested.push({ of: delivery.id, at: this.#time.now() });
		await this.#commit({
			expect: [{ kind: 'deliveries', id: delivery.id, version: delivery.version }],
			write: [{ op: 'patch', kind: 'deliveries', id: delivery.id, set: retryPatch(this.#time.now()) }],
		});
		this.#process.deliverer.wake(delivery.webhook_id);
	}

	async #replay(): Promise<void> {
		const [stored] = this.#read<WebhookRecord & { events: string }>(
			"SELECT * FROM webhooks WHERE status = 'active' ORDER BY id LIMIT 1",
		);
		if (!stored) return;
		const now = this.#time.now();
		const endpoint = { ...stored, events: JSON.parse(stored.events) } as WebhookRecord;
		this.#requested.push({ of: endpoint.id, at: now });
		const { store, deliverer } = this.#process;
		const replaying = replayEvents(
			{ store, clock: this.#time, wake: (id) => deliverer.wake(id) },
			{
				endpoint: async () => endpoint,
				since: now - this.#random.between(1, 100) * HOUR,
				until: now,
			},
		).commit();
		replaying.catch(() => {});
		await this.#time.runUntil(now + 20);
	}

	async #edit(): Promise<void> {
		const endpoint = this.#randomEndpoint();
		if (!endpoint) return;
		const url = this.#url();
		endpoint.urls.push(url);
		await this.#commit({
			write: [
				{ op: 'patch', kind: 'webhooks', id: endpoint.id, set: { url } },
				{ op: 'clear_failures', webhook_id: endpoint.id },
			],
		});
		this.#process.deliverer.wake(endpoint.id);
	}

	async #delete(): Promise<void> {
		const endpoint = this.#randomEndpoint();
		if (!endpoint) return;
		endpoint.deleted = true;
		await this.#commit({
			write: [
				{ op: 'remove', kind: 'webhooks', id: endpoint.id },
				{ op: 'erase_deliveries', webhook_id: endpoint.id, limit: 2 },
			],
		});
		// The crash may have come first.
		endpoint.deleted = this.#read('SELECT 1 FROM webhooks WHERE id = ?', endpoint.id).length === 0;
		this.#process.deliverer.cleanUp();
	}

	#randomEndpoint(): KnownEndpoint | undefined {
		const left = this.#endpoints.filter(({ deleted }) => !deleted);
		return left.length === 0 ? undefined : this.#random.pick(left as [KnownEndpoint, ...KnownEndpoint[]]);
	}

	async #outcome(): Promise<SimulationResult> {
		const { store, crash } = this.#process;
		const webhooks = new Map<string, WebhookRecord>();
		const failingSince = new Map<string, number | null>();
		for (const { id } of this.#endpoints) {
			const record = await store.get('webhooks', id);
			if (record) webhooks.set(id, record);
			failingSince.set(id, await store.deliveries.failingSince(id));
		}
		const rows = this.#read<{ id: string; count: number }>(
			'SELECT delivery_id AS id, count(*) AS count FROM delivery_attempts GROUP BY delivery_id',
		);
		const outcome: SimulationResult = {
			endpoints: this.#endpoints,
			expected: this.#expected,
			requested: this.#requested,
			cancelled: this.#cancelled,
			downtimes: this.#downtimes,
			received: this.#receivers.received,
			deliveries: this.#read<DeliveryRecord>('SELECT * FROM deliveries ORDER BY event_seq, id'),
			webhooks,
			failingSince,
			attemptRows: new Map(rows.map(({ id, count }) => [id, count])),
			endedAt: this.#time.now(),
		};
		crash();
		this.#disk.close();
		return outcome;
	}
}
