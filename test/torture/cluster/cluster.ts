import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { AsyncDisposableStack } from '../../../src/base/index.ts';
import { FUNCTION_SCHEMA } from '../../../src/store/postgres/functions/index.ts';
import { startCuttableProxy } from '../../support/cuttable-proxy.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import { type ApiResponse, request, type ServerProcess } from '../../support/server-process.ts';
import { until } from '../../support/until.ts';
import type { ApiClient } from '../api-client.ts';
import { FaultShim, skipWithoutFaultShim } from '../fault-shim.ts';
import type { World } from '../world.ts';
import { Balancer } from './balancer.ts';

const DATABASE = 'torture';
const SECRET_KEY = Buffer.alloc(32, 11).toString('base64');

/** A place of the cluster: its process may be replaced by another one. */
interface Node {
	server: ServerProcess;
	/** Its way to PostgreSQL. */
	readonly proxy: Awaited<ReturnType<typeof startCuttableProxy>>;
	/** Moves its clock; null where it cannot be compiled. */
	readonly shim: FaultShim | null;
	/** Of the ended processes in this place. */
	formerOutput: string;
}

/** Server processes on one PostgreSQL, behind a load balancer. As a client, it is the load balancer. */
export class Cluster implements ApiClient, AsyncDisposable {
	readonly nodes: readonly Node[];
	readonly balancer: Balancer;
	readonly postgres: PostgresServer;
	readonly key: string;
	readonly #world: World;
	readonly #url: string;

	private constructor(world: World, postgres: PostgresServer, url: string, nodes: readonly Node[], balancer: Balancer) {
		this.#world = world;
		this.postgres = postgres;
		this.#url = url;
		this.nodes = nodes;
		this.balancer = balancer;
		this.key = (nodes[0] as Node).server.key;
	}

	/** Starts PostgreSQL, and nodes whose connections to it pass a proxy each. */
	static async start(world: World, count = 3): Promise<Cluster> {
		await using resources = new AsyncDisposableStack();
		const postgres = resources.use(await startPostgres());
		const url = await postgres.database(DATABASE);
		const start = async (at: number): Promise<Node> => {
			const folder = join(world.folder, `node-${at}`);
			await mkdir(folder);
			const proxy = resources.use(await startCuttableProxy(postgres.socket, { keepsReceived: false }));
			const shim = skipWithoutFaultShim() === false ? resources.use(new FaultShim(folder)) : null;
			return { server: resources.use(await startNode(world, folder, proxy, shim)), proxy, shim, formerOutput: '' };
		};
		// The first one makes the workspace and the scene.
		const first = await start(0);
		const nodes = [first, ...(await Promise.all(Array.from({ length: count - 1 }, (_, at) => start(at + 1))))];
		const balancer = resources.use(await Balancer.start(nodes.map(({ server }) => server.port)));
		const cluster = new Cluster(world, postgres, url, nodes, balancer);
		cluster.#resources = resources.move();
		return cluster;
	}

	#resources = new AsyncDisposableStack();

	get url(): string {
		return this.balancer.url;
	}

	call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<ApiResponse> {
		return request(this.url + path, method, { authorization: `Bearer ${this.key}`, ...headers }, body);
	}

	output(): string {
		return this.nodes
			.map(({ server, formerOutput }, at) => `node ${at}:\n${formerOutput}${server.output()}`)
			.join('\n');
	}

	/** Ends a node and starts another one in its place. */
	async replace(at: number): Promise<void> {
		const node = this.nodes[at] as Node;
		await node.server.kill();
		node.formerOutput += node.server.output();
		const { dataDir } = node.server;
		node.server = this.#resources.use(await startNode(this.#world, dataDir, node.proxy, node.shim));
		this.balancer.replace(at, node.server.port);
	}

	/** Resolves when the load balancer has found each node ready. */
	async untilWhole(): Promise<void> {
		await until('each node is ready', () => this.balancer.isWhole).catch((cause) => {
			throw new Error(`${cause.message}\n${this.output()}`, { cause });
		});
	}

	/** The node that owns a shard; null while its owner is not among the processes. */
	async ownerOf(shard: number): Promise<number | null> {
		const [row] = await this.query('SELECT owner FROM parley.shards WHERE id = $1', [shard]);
		const at = this.nodes.findIndex(({ server }) => String(row?.owner).startsWith(`${server.pid}-`));
		return at < 0 ? null : at;
	}

	/** The events of which an attempt of the delivery has failed. */
	async retriedEvents(): Promise<Set<string>> {
		const rows = await this.query('SELECT event_id FROM parley.deliveries WHERE failures > 0');
		return new Set(rows.map(({ event_id }) => event_id));
	}

	/** Lets PostgreSQL accept the commits of any node in any shard, as a product without the fence would. */
	async switchFenceOff(): Promise<void> {
		await this.query(`CREATE OR REPLACE FUNCTION ${FUNCTION_SCHEMA}.holds_shard(p_shard bigint, p_epoch bigint) RETURNS boolean
			LANGUAGE sql AS 'SELECT true'`);
	}

	// biome-ignore lint/suspicious/noExplicitAny: rows of several tables
	async query(text: string, values: unknown[] = []): Promise<any[]> {
		const client = new pg.Client(this.#url);
		client.on('error', () => {});
		await client.connect();
		try {
			return (await client.query(text, values)).rows;
		} finally {
			await client.end();
		}
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.#resources[Symbol.asyncDispose]();
	}
}

function startNode(
	world: World,
	dataDir: string,
	proxy: { port: number },
	shim: FaultShim | null,
): Promise<ServerProcess> {
	return world.start({
		dataDir,
		env: {
			...shim?.env,
			PARLEY_DATABASE_URL: `postgres://parley@127.0.0.1:${proxy.port}/${DATABASE}`,
			PARLEY_SECRET_KEY: SECRET_KEY,
			PARLEY_LOG_LEVEL: 'info',
		},
	});
}
