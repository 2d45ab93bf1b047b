import { Gauge, type Registry } from 'prom-client';
import { withDeadline } from '../base/index.ts';
import type { Models } from '../models/index.ts';
import type { StoreState } from '../store/index.ts';

/** How long a scrape waits for the folder of the backups (ms). */
const BACKUPS_MS = 1_000;

/** What is read when the metrics are asked for. */
export interface MetricsSources {
	store: { state(): Promise<StoreState> };
	http: { readonly openStreams: number; readonly openConnections: number };
	conversations: { readonly actorCounts: ActorCounts };
	deployments: { readonly actorCounts: ActorCounts };
	models: Pick<Models, 'unclosedCircuits'>;
	/** The node's place in a cluster; null: the server is the only one. */
	placement: { readonly nodes: readonly unknown[]; readonly served: number } | null;
	/** Null: the server makes none. */
	backups: { readonly everySeconds: number; newestMadeAt(): Promise<number | null> } | null;
}

interface ActorCounts {
	/** Actors in memory. */
	readonly residents: number;
	/** Messages that wait for an actor. */
	readonly waiting: number;
}

/** Registers the gauges of the server's state. Returns a function that reads it: a few small queries. */
export function registerState(
	registry: Registry,
	{ store, http, conversations, deployments, models, placement, backups }: MetricsSources,
): () => Promise<void> {
	const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
		new Gauge<L>({ name: `parley_${name}`, help, labelNames, registers: [registry] });
	const streams = gauge('http_open_streams', 'Event streams that are open.');
	const connections = gauge('http_open_connections', 'Connections of clients that are open.');
	const actors = gauge('actors', 'Actors in memory, by kind.', ['kind']);
	const waiting = gauge('actor_waiting_messages', 'Messages that wait in the mailboxes of actors.', ['kind']);
	const pending = gauge('store_waiting_commits', 'Commits that wait for the database.');
	const size = gauge('store_file_bytes', 'Size of the database and of its write-ahead log (WAL).', ['file']);
	const jobs = gauge('jobs', 'Jobs that wait or run, by kind.', ['kind']);
	const age = gauge('job_oldest_seconds', 'How long the oldest due job of a kind has waited.', ['kind']);
	const documents = gauge('documents', 'Documents by state: indexed, pending or failed.', ['state']);
	const writable = gauge('store_writable', '1 if changes can be stored, else 0.');
	const circuits = gauge(
		'provider_circuit_open',
		'Circuits of a provider (model: all) or of one of its models: 1 refuses calls, 0.5 permits a trial call only. Closed ones have no value.',
		['provider', 'model'],
	);
	const readPlacement = placement && registerPlacement(gauge, placement);
	const readBackups = backups && registerBackups(gauge, backups);
	return async () => {
		await readBackups?.();
		readPlacement?.();
		streams.set(http.openStreams);
		connections.set(http.openConnections);
		const kinds = { conversation: conversations.actorCounts, deployment: deployments.actorCounts };
		for (const [kind, counts] of Object.entries(kinds)) {
			actors.set({ kind }, counts.residents);
			waiting.set({ kind }, counts.waiting);
		}
		circuits.reset();
		for (const { provider, model, state } of models.unclosedCircuits())
			circuits.set({ provider, model: model ?? 'all' }, state === 'open' ? 1 : 0.5);
		const state = await store.state().catch(() => null);
		writable.set(state?.isWritable ? 1 : 0);
		// A database that cannot be read must not hide the other figures.
		if (state === null) return;
		pending.set(state.waitingTasks);
		size.set({ file: 'database' }, state.databaseBytes);
		if (state.walBytes !== null) size.set({ file: 'wal' }, state.walBytes);
		jobs.reset();
		age.reset();
		for (const { kind, count, oldest_due_at } of state.jobs) {
			jobs.set({ kind }, count);
			age.set({ kind }, Math.max(0, state.now - (oldest_due_at ?? state.now)) / 1_000);
		}
		for (const [name, count] of Object.entries(state.documents)) documents.set({ state: name }, count);
	};
}

function registerPlacement(
	gauge: (name: string, help: string) => Gauge,
	placement: NonNullable<MetricsSources['placement']>,
): () => void {
	const nodes = gauge('cluster_nodes', 'Nodes of the cluster that are alive, as this one knows.');
	const shards = gauge('cluster_shards', 'Shards that this node serves.');
	return () => {
		nodes.set(placement.nodes.length);
		shards.set(placement.served);
	};
}

/**
 * Without a backup the time is 0: everything is late then. While the folder does not answer, it keeps the last known value:
 * a scrape must not wait for a disk of the network.
 */
function registerBackups(
	gauge: (name: string, help: string) => Gauge,
	backups: NonNullable<MetricsSources['backups']>,
): () => Promise<void> {
	gauge('backup_interval_seconds', 'Time from one backup of the server to the next.').set(backups.everySeconds);
	const newest = gauge('backup_newest_timestamp_seconds', 'When the newest backup was made (Unix time); 0 for none.');
	let isReading = false;
	return async () => {
		// A scrape before waits already.
		if (isReading) return;
		isReading = true;
		const read = backups
			.newestMadeAt()
			.then(
				(madeAt) => newest.set((madeAt ?? 0) / 1_000),
				() => newest.set(0),
			)
			.finally(() => {
				isReading = false;
			});
		await withDeadline(read, BACKUPS_MS, () => new Error('The folder of the backups does not answer.')).catch(() => {});
	};
}
