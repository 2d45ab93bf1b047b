import { setTimeout as sleep } from 'node:timers/promises';
import { skipWithoutPostgres } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';
import { Cluster } from '../cluster/cluster.ts';
import { EventPoller } from '../cluster/event-poller.ts';
import { commitOfFrozenNode } from '../cluster/late-commit.ts';
import { throwFaults, type World } from '../world.ts';
import type { Round } from './round.ts';

const HOUR_MS = 3_600_000;
/** Longer than a lease: the shards of the node have another owner when it wakes. */
const FREEZE_MS = { short: 6_000, long: 20_000 };
const MAX_DELAY_MS = 800;
/** For how long a node does not reach PostgreSQL. */
const MAX_CUT_MS = 6_000;
const PAUSE_MS = 30;

/** By how much a fault may lengthen the longest wait of a client for its answer. Only the long form requires it. */
const MAX_WAIT_MS = 5_000;
const MAX_WAIT_OF_RESTART_MS = 10_000;

type Fault = 'kill' | 'freeze' | 'cut' | 'clock' | 'crash of PostgreSQL' | 'stop of PostgreSQL';

interface Scenario {
	world: World;
	cluster: Cluster;
	freezeMs: number;
}

const faults: Record<Fault, (scenario: Scenario) => Promise<void>> = {
	async kill({ world, cluster }) {
		await cluster.replace(anyNode(world, cluster));
		world.count('kills of a node');
	},
	async freeze({ world, cluster, freezeMs }) {
		const { pid } = (cluster.nodes[anyNode(world, cluster)] as Cluster['nodes'][number]).server;
		process.kill(pid, 'SIGSTOP');
		try {
			await sleep(freezeMs);
		} finally {
			process.kill(pid, 'SIGCONT');
		}
		world.count('freezes of a node');
	},
	async cut({ world, cluster }) {
		const { proxy } = cluster.nodes[anyNode(world, cluster)] as Cluster['nodes'][number];
		proxy.cut();
		// In half of the cases the connections break and can be made again at once.
		await sleep(world.random.chance(0.5) ? 0 : world.random.between(0, MAX_CUT_MS));
		proxy.restore();
		world.count('cuts between a node and PostgreSQL');
	},
	async clock({ world, cluster }) {
		const { shim } = cluster.nodes[anyNode(world, cluster)] as Cluster['nodes'][number];
		if (shim === null) return;
		// It stays so until the end, or another fault of this kind.
		shim.setClockOffset(HOUR_MS);
		world.count('clocks of a node an hour ahead');
	},
	async 'crash of PostgreSQL'({ world, cluster }) {
		await cluster.postgres.restart('crash');
		world.count('restarts of PostgreSQL');
	},
	async 'stop of PostgreSQL'({ world, cluster }) {
		await cluster.postgres.restart('stop');
		world.count('restarts of PostgreSQL');
	},
};

/** Three servers on one PostgreSQL, behind a load balancer: each of them, the database and their connections fail under load. */
export const cluster: Round = {
	name: 'cluster',
	summary: 'nodes of a cluster are killed, frozen, cut off and get a wrong clock, and PostgreSQL restarts',
	repeats: { short: 1, long: 2 },
	rounds: 5,
	skip: () => skipWithoutPostgres,
	async run(world, repeats) {
		const isLong = repeats > 1;
		await using cluster = await Cluster.start(world);
		await cluster.untilWhole();
		let fault: Fault | 'no fault' = 'no fault';
		const waits: Record<string, Wait> = {};
		const onAnswer = (ms: number, attempts: readonly string[]) => {
			if (ms > (waits[fault]?.ms ?? 0)) waits[fault] = { ms, attempts, at: new Date().toISOString() };
		};
		const poller = new EventPoller(cluster);
		const load = world.load(cluster, { onAnswer, pauseMs: PAUSE_MS });
		await untilAnswers(world, isLong ? 60 : 10);
		for (const next of plan(world, isLong, repeats)) {
			await sleep(world.random.between(0, MAX_DELAY_MS));
			fault = next;
			await faults[next]({ world, cluster, freezeMs: isLong ? FREEZE_MS.long : FREEZE_MS.short });
			await cluster.untilWhole();
			await load.untilAnswered();
			await untilAnswers(world, 10);
		}
		await load.stop();
		await world.check(cluster);
		throwFaults(await poller.stop(), cluster);
		world.count('events that a poller has got', poller.count);
		await world.checkDeliveries(cluster, () => cluster.retriedEvents());
		await untilIndexed(world, cluster);
		for (const [during, { ms }] of Object.entries(waits)) {
			world.figures.waits[during] = Math.max(world.figures.waits[during] ?? 0, ms);
		}
		if (!isLong) return;
		await commitOfFrozenNode(world, cluster);
		requireShortWaits(waits, cluster);
	},
};

/** The faults of a round, in the order of its seed. A node whose clock is wrong comes first, so that it is under the others. */
function plan({ random }: World, isLong: boolean, repeats: number): Fault[] {
	const restart = random.pick<Fault>(['crash of PostgreSQL', 'stop of PostgreSQL']);
	const some: Fault[] = isLong ? ['kill', 'kill', 'kill', 'freeze', 'cut'] : ['kill', 'freeze', 'cut'];
	const shuffled = Array.from({ length: repeats }, () => some)
		.flat()
		.concat(restart)
		.map((fault) => ({ fault, place: random.next() }))
		.sort((a, b) => a.place - b.place)
		.map(({ fault }) => fault);
	return ['clock', ...shuffled];
}

function anyNode({ random }: World, { nodes }: Cluster): number {
	return random.between(0, nodes.length - 1);
}

async function untilAnswers({ ledger }: World, count: number): Promise<void> {
	const before = ledger.acknowledged;
	await until('changes are acknowledged', () => ledger.acknowledged > before + count);
}

async function untilIndexed({ sceneOfServers }: World, cluster: Cluster): Promise<void> {
	await until('each document is indexed', async () => {
		const { body } = await cluster.call('GET', `/api/v1/knowledge-bases/${sceneOfServers.knowledgeBase}/status`);
		return body.status === 'ready' || body.documents_total === 0;
	});
}

/** The longest wait of a client during a fault. */
interface Wait {
	ms: number;
	attempts: readonly string[];
	at: string;
}

/** What a client waits without a fault is the machine's. */
function requireShortWaits({ 'no fault': usual, ...waits }: Record<string, Wait>, cluster: Cluster): void {
	for (const [fault, { ms, attempts, at }] of Object.entries(waits)) {
		const most = fault.endsWith('PostgreSQL') ? MAX_WAIT_OF_RESTART_MS : MAX_WAIT_MS;
		if (ms - (usual?.ms ?? 0) <= most) continue;
		throwFaults([`${fault}: a client has waited ${ms.toFixed()} ms until ${at}: ${attempts.join(', ')}`], cluster);
	}
}
