import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { shardOf } from '../../src/cluster/index.ts';
import type { ServerProcess } from '../../test/support/server-process.ts';
import { until } from '../../test/support/until.ts';
import { type ScriptedModel, startServerWithModel } from '../messages/processes.ts';

const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');

/** A node of the measured cluster. */
export interface BenchNode {
	server: ServerProcess;
	/** Where other nodes reach it; the database names nodes by it. */
	address: string;
	dataDir: string;
}

/** Several servers on one PostgreSQL. */
export class BenchCluster implements AsyncDisposable {
	readonly nodes: BenchNode[] = [];
	readonly #url: string;
	readonly #model: ScriptedModel;
	readonly #client: pg.Client;
	#key: string | undefined;
	#nextPort: number;

	private constructor(url: string, model: ScriptedModel, client: pg.Client, firstPort: number) {
		this.#url = url;
		this.#model = model;
		this.#client = client;
		this.#nextPort = firstPort;
	}

	/** @param firstPort of the listeners for other nodes; each node takes the next */
	static async open(url: string, model: ScriptedModel, firstPort: number): Promise<BenchCluster> {
		const client = new pg.Client(url);
		await client.connect();
		return new BenchCluster(url, model, client, firstPort);
	}

	/** Starts a node, and waits until all have their share of the shards. */
	async add(): Promise<BenchNode> {
		const address = `127.0.0.1:${this.#nextPort++}`;
		const dataDir = await mkdtemp(join(tmpdir(), 'parley-bench-node-'));
		const server = await startServerWithModel(this.#model, {
			...{ dataDir, key: this.#key },
			env: { PARLEY_DATABASE_URL: this.#url, PARLEY_SECRET_KEY: SECRET_KEY, PARLEY_CLUSTER_LISTEN: address },
		});
		this.#key ??= server.key;
		const node = { server, address, dataDir };
		this.nodes.push(node);
		await until('the shards are shared', async () => {
			const shares = await Promise.all(this.nodes.map((each) => this.#shardsOf(each)));
			return Math.max(...shares) - Math.min(...shares) <= 1 && shares.reduce((sum, share) => sum + share, 0) === 256;
		});
		return node;
	}

	/** Ends a node as a crash does. */
	async kill(node: BenchNode): Promise<void> {
		this.nodes.splice(this.nodes.indexOf(node), 1);
		await node.server.kill();
		await rm(node.dataDir, { recursive: true, force: true });
	}

	/** The node that serves a conversation. */
	async ownerOf(conversation: string): Promise<BenchNode> {
		const { rows } = await this.#client.query<{ address: string }>(
			'SELECT nodes.address FROM parley.shards JOIN parley.nodes ON nodes.id = shards.owner WHERE shards.id = $1',
			[shardOf(conversation)],
		);
		const owner = this.nodes.find(({ address }) => address === rows[0]?.address);
		if (owner === undefined) throw new Error(`No node serves ${conversation}.`);
		return owner;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		for (const node of [...this.nodes]) await this.kill(node);
		await this.#client.end();
	}

	async #shardsOf({ address }: BenchNode): Promise<number> {
		const { rows } = await this.#client.query<{ count: string }>(
			'SELECT count(*) FROM parley.shards JOIN parley.nodes ON nodes.id = shards.owner WHERE nodes.address = $1',
			[address],
		);
		return Number(rows[0]?.count);
	}
}
