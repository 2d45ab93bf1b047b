import { conversationKeyOf, type Unready } from './api/index.ts';
import { AppError, type Clock, type ClockJumpDetector, type Log, messageOf, SecretBox, sleep } from './base/index.ts';
import {
	type CountHere,
	clusterOnly,
	Forwarder,
	forwardingRoutes,
	ownedRoutes,
	Placement,
	shardOf,
	VisitorLimitsClient,
	visitorLimitRoutes,
} from './cluster/index.ts';
import { listenAddress, processSources, type Settings } from './config/index.ts';
import type { Conversations } from './conversations/index.ts';
import type { Deployments } from './deployments/index.ts';
import { createHttpServer, type HttpServer, type Route } from './http/index.ts';
import { PeerClient } from './net/index.ts';
import type { FenceOf, PlacementStore } from './store/index.ts';
import type { Tracing } from './tracing/index.ts';
import type { Deliverer } from './webhooks/index.ts';

/** For as long at least, a node that ends still serves while it is not ready: a load balancer checks that every second or two (ms). */
const LOAD_BALANCER_MS = 3_000;
/** Other nodes know new owners after so long (ms): two renewals. */
const VIEWS_MS = 2_000;

/** After a failed read of unfinished replies (ms). */
const RESUME_RETRY_MS = 1_000;

const CUT_OFF: Unready = {
	reason: 'lease_ended',
	message: 'PostgreSQL does not renew the lease of this node: it serves no conversations.',
};

/** The listener for the other nodes, and where they reach it. */
export interface ClusterServer {
	server: HttpServer;
	address: string;
}

/**
 * Listens for the other nodes. It serves nothing before its routes are set.
 * @param tracing null: requests are not traced
 * @throws AppError `unavailable` where the address cannot be listened on
 */
export async function openClusterServer(settings: Settings, log: Log, tracing: Tracing | null): Promise<ClusterServer> {
	const server = createHttpServer({
		...(listenAddress(settings.cluster_listen ?? '127.0.0.1:0') as { host: string; port: number }),
		routes: [],
		isStarting: true,
		log,
		// Only nodes have the key of the cluster: the address and the id of a request are those that the first node gave it.
		trustedProxies: ['0.0.0.0/0', '::/0'],
		trustsSender: true,
		delaysRefusals: false,
		// Requests are counted and logged by the node that has them from clients. Their spans are here.
		tracer: tracing,
		observers: tracing === null ? [] : [tracing],
		environment: processSources().env,
	});
	try {
		const { host, port } = await server.listen();
		const listening = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
		return { server, address: settings.cluster_address ?? listening };
	} catch (cause) {
		await server[Symbol.asyncDispose]();
		throw new AppError('unavailable', `${messageOf(cause)} Set PARLEY_CLUSTER_LISTEN to another address.`, { cause });
	}
}

export interface ClusterMemberOptions {
	store: PlacementStore;
	/** The id of this node in the store. */
	nodeId: string;
	secretKey: Buffer;
	clock: Clock;
	jumpDetector: Pick<ClockJumpDetector, 'compare'>;
	log: Log;
	/** Called when another node did not answer a request of this one. */
	onPeerFailure: () => void;
}

/** What is done by the owner of a shard only. */
export interface PlacedWork {
	conversations: Pick<Conversations, 'busyIds' | 'abandonWhere' | 'resumeUnfinished'>;
	deliverer: Pick<Deliverer, 'release' | 'resume'>;
}

/** This process as a node of a cluster: what it serves, and what it passes on. */
export class ClusterMember implements AsyncDisposable {
	readonly placement: Placement;
	/** What nodes of one cluster know. */
	readonly key: string;
	readonly peers = new PeerClient();
	/** Counts visitors at the owners of their deployments. */
	readonly visitorLimits: VisitorLimitsClient;
	readonly #forwarder: Forwarder;
	readonly #log: Log;
	readonly #closing = new AbortController();
	/** Null until the start. */
	#work: PlacedWork | null = null;

	constructor({ store, nodeId, secretKey, clock, jumpDetector, log, onPeerFailure }: ClusterMemberOptions) {
		this.#log = log;
		this.key = new SecretBox(secretKey).key('cluster').toString('base64url');
		this.placement = new Placement({
			...{ store, nodeId, log, clock },
			busyShards: () => new Set([...(this.#work?.conversations.busyIds() ?? [])].map(shardOf)),
			onGained: (shards) => {
				log.info({ shards: shards.size }, 'this node has taken shards');
				this.#work?.deliverer.resume();
				void this.#resumeReplies();
			},
			onLost: (shards) => {
				log.info({ shards: shards.size }, 'this node has given shards up');
				const isLost = (id: string) => shards.has(shardOf(id));
				this.#work?.conversations.abandonWhere(isLost);
				this.#work?.deliverer.release(isLost).catch((err: unknown) => {
					log.warn({ err }, 'deliveries to endpoints that another node serves did not end in time');
				});
			},
			onTime: (now) => jumpDetector.compare(now),
		});
		const { placement, peers, key } = this;
		const toOwners = { placement, nodeId, peers, clusterKey: key, clock, onFailure: onPeerFailure };
		this.#forwarder = new Forwarder(toOwners);
		this.visitorLimits = new VisitorLimitsClient(toOwners);
	}

	/** Why this node serves nothing; null while it is a part of the cluster. */
	get problem(): Unready | null {
		return this.placement.holdsLease ? null : CUT_OFF;
	}

	readonly fenceOf: FenceOf = (id) => this.placement.fenceOf(id);

	/** The routes for clients: what another node serves is passed on. */
	forwarding(routes: readonly Route[]): Route[] {
		return forwardingRoutes(routes, conversationKeyOf, this.#forwarder);
	}

	/** The routes for other nodes: those that are passed on to this one, and those that only nodes use. */
	forNodes(routes: readonly Route[], { limits }: Pick<Deployments, 'limits'>): Route[] {
		const { placement } = this;
		const countHere: CountHere = (...event) => limits.countHere(...event);
		const internal = visitorLimitRoutes({ placement, countHere });
		return clusterOnly([...ownedRoutes(routes, conversationKeyOf, placement), ...internal], this.key);
	}

	/** Takes shards from now on. */
	start(work: PlacedWork): Promise<void> {
		this.#work = work;
		return this.placement.start();
	}

	/**
	 * Hands all shards over to the other nodes, each once its running replies have ended, and all after the time. Requests are served
	 * meanwhile. Alone, the node keeps them.
	 * @returns whether other nodes serve everything now
	 */
	async leave(ms: number): Promise<boolean> {
		if (this.placement.nodes.length < 2) return false;
		const handOver = async () => {
			await this.placement.leave(ms);
			// Until then another node may pass on what it takes for this one's.
			await sleep(VIEWS_MS);
		};
		try {
			await Promise.all([handOver(), sleep(Math.min(ms, LOAD_BALANCER_MS))]);
			return true;
		} catch (err) {
			this.#log.warn({ err }, 'shards could not be handed over: other nodes take them when the lease has ended');
			return false;
		}
	}

	/** Resumes the replies of conversations that this node has got. */
	async #resumeReplies(): Promise<void> {
		const { signal } = this.#closing;
		while (!signal.aborted) {
			try {
				await this.#work?.conversations.resumeUnfinished();
				return;
			} catch (err) {
				this.#log.warn({ err }, 'the replies of conversations that this node has got could not be resumed yet');
				await sleep(RESUME_RETRY_MS, signal);
			}
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#closing.abort();
		await this.placement[Symbol.asyncDispose]();
		await this.peers[Symbol.asyncDispose]();
	}
}
