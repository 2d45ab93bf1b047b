import { AppError, sleep } from '../base/index.ts';
import { type ClusterStatus, databaseError, LEASE_MS, readClusterStatus } from '../store/index.ts';
import { alignColumns, type Command, type Invocation } from './command.ts';

/** Longer than a lease, and than the other nodes take to notice that it has ended. */
const RECHECK_MS = LEASE_MS + 1_000;

const status: Command = {
	name: 'cluster status',
	flags: ['json'],
	summary:
		'show the nodes on PostgreSQL, their shards, and what waits; exits with 1 when no node runs, or shards have had no node for longer than a lease',
	async run(invocation) {
		const { database_url: url } = invocation.settings();
		if (url === undefined) {
			throw new AppError('unavailable', 'The database is embedded: there is no cluster. Set PARLEY_DATABASE_URL.');
		}
		const found = await readStatus(url);
		if (invocation.flag('json')) invocation.print(JSON.stringify(found));
		else printTables(invocation, found);
		await requireServed(url, found);
	},
};

/** Commands about the nodes of a cluster. */
export const clusterCommands = [status];

async function readStatus(url: string): Promise<ClusterStatus> {
	try {
		return await readClusterStatus(url);
	} catch (error) {
		throw databaseError(error) ?? error;
	}
}

function printTables(invocation: Invocation, { nodes, shards, jobs, projections, log_end }: ClusterStatus): void {
	const print = (rows: string[][]) => {
		for (const line of alignColumns(rows)) invocation.print(line);
	};
	print([
		['NODE', 'ADDRESS', 'VERSION', 'STATE', 'LEASE', 'SHARDS'],
		...nodes.map((node) => [
			node.id,
			node.address === '' ? '-' : node.address,
			node.version,
			node.state,
			node.lease_left_ms > 0 ? `${seconds(node.lease_left_ms)} left` : `${seconds(-node.lease_left_ms)} ago`,
			String(node.shards),
		]),
	]);
	invocation.print('');
	const { total, free, lowest_epoch, highest_epoch } = shards;
	print([
		['SHARDS', 'FREE', 'LOWEST EPOCH', 'HIGHEST EPOCH'],
		[total, free.length, lowest_epoch, highest_epoch].map(String),
	]);
	invocation.print('');
	print([
		['JOBS', 'COUNT', 'DUE', 'OLDEST DUE'],
		...jobs.map(({ kind, count, due, oldest_due_ms }) => [
			kind,
			String(count),
			String(due),
			oldest_due_ms === null ? '-' : `${seconds(oldest_due_ms)} ago`,
		]),
	]);
	invocation.print('');
	print([
		['PROJECTION', 'POSITION', 'BEHIND'],
		...projections.map(({ name, position, behind }) => [name, String(position), String(behind)]),
		['log', String(log_end), ''],
	]);
}

function seconds(ms: number): string {
	return `${(ms / 1_000).toFixed(1)} s`;
}

/**
 * A shard may be free for a moment: its owner has just ended, or hands it over. So this looks again after a lease.
 * @throws AppError `unavailable`
 */
async function requireServed(url: string, before: ClusterStatus): Promise<void> {
	if (before.nodes.every(({ state }) => state === 'ended')) {
		throw new AppError('unavailable', 'No node runs on the PostgreSQL database.');
	}
	if (before.shards.free.length === 0) return;
	await sleep(RECHECK_MS);
	const { nodes, shards } = await readStatus(url);
	const epochs = new Map(before.shards.free.map(({ id, epoch }) => [id, epoch]));
	const free = shards.free.filter(({ id, epoch }) => epochs.get(id) === epoch);
	if (free.length === 0) return;
	const reason = nodes.some(({ state }) => state === 'alive') ? '' : ' All nodes are leaving: start another.';
	throw new AppError(
		'unavailable',
		`${free.length} of ${shards.total} shards have had no node for longer than a lease.${reason}`,
	);
}
