import pg from 'pg';
import { type JobCounts, oldestDueAt } from '../job-state.ts';
import { SHARD_COUNT } from '../placement.ts';
import { connectionOptions } from './connection.ts';
import { sqlOf } from './sql.ts';
import { requireCurrentSchema } from './tool-access.ts';

/** A node as its lease has it. */
export interface NodeStatus {
	id: string;
	address: string;
	version: string;
	/** `ended`: its lease has run out. It is forgotten an hour later. */
	state: 'alive' | 'leaving' | 'ended';
	/** Milliseconds until its lease runs out; negative: since then. */
	lease_left_ms: number;
	shards: number;
}

/** What the database has of the cluster at one moment. Times are by its clock. */
export interface ClusterStatus {
	nodes: NodeStatus[];
	shards: {
		total: number;
		/** Shards without a living owner, by their numbers and epochs. */
		free: Array<{ id: number; epoch: number }>;
		lowest_epoch: number;
		highest_epoch: number;
	};
	/** Jobs that wait or run. `oldest_due_ms`: how long the oldest of those that wait is due; null: none waits. */
	jobs: Array<{ kind: string; count: number; due: number; oldest_due_ms: number | null }>;
	/** How many events of the log each projection has not read yet. */
	projections: Array<{ name: string; position: number; behind: number }>;
	log_end: number;
}

/**
 * Reads who owns what, and what waits.
 * @throws AppError `not_found` and `unavailable`, errors of the connection
 */
export async function readClusterStatus(url: string): Promise<ClusterStatus> {
	const client = new pg.Client(connectionOptions(url));
	client.on('error', () => {});
	await client.connect();
	try {
		const sql = sqlOf(client);
		await requireCurrentSchema(sql);
		// One statement: all of it is of one moment.
		const row = await sql.get<{ status: SelectedStatus }>(SELECT_STATUS);
		const { now_ms, jobs, ...status } = (row as { status: SelectedStatus }).status;
		return { ...status, jobs: jobs.map((counts) => jobsOfKind(counts, now_ms)) };
	} finally {
		await client.end();
	}
}

interface SelectedStatus extends Omit<ClusterStatus, 'jobs'> {
	now_ms: number;
	jobs: SelectedJobs[];
}

type SelectedJobs = Omit<ClusterStatus['jobs'][number], 'oldest_due_ms'> & JobCounts;

function jobsOfKind({ oldest_due_at, oldest_id, ...counts }: SelectedJobs, now: number) {
	const dueAt = oldestDueAt({ oldest_due_at, oldest_id });
	return { ...counts, oldest_due_ms: dueAt === null ? null : Math.max(0, now - dueAt) };
}

const SELECT_STATUS = `
	WITH now AS MATERIALIZED (SELECT clock_timestamp() AS at, now_ms() AS ms),
	members AS (
		SELECT id, address, version, is_leaving, expires_at > now.at AS is_alive,
			round(extract(epoch FROM expires_at - now.at) * 1000)::bigint AS lease_left_ms,
			(SELECT count(*) FROM shards WHERE owner = nodes.id) AS shards
		FROM nodes, now
	)
	SELECT jsonb_build_object(
		'nodes', (SELECT coalesce(jsonb_agg(jsonb_build_object('id', id, 'address', address, 'version', version,
			'state', CASE WHEN NOT is_alive THEN 'ended' WHEN is_leaving THEN 'leaving' ELSE 'alive' END,
			'lease_left_ms', lease_left_ms, 'shards', shards) ORDER BY is_alive DESC, id), '[]') FROM members),
		'shards', (SELECT jsonb_build_object('total', ${SHARD_COUNT}, 'lowest_epoch', min(epoch), 'highest_epoch', max(epoch),
			'free', coalesce(jsonb_agg(jsonb_build_object('id', id, 'epoch', epoch) ORDER BY id) FILTER (
				WHERE NOT coalesce(owner IN (SELECT id FROM members WHERE is_alive), false)), '[]')) FROM shards),
		'jobs', (SELECT coalesce(jsonb_agg(to_jsonb(kinds) ORDER BY kind), '[]') FROM (
			SELECT kind, count(*) AS count, count(*) FILTER (WHERE due_at <= now.ms) AS due,
				min(due_at) FILTER (WHERE due_at <= now.ms AND due_at > 0 AND lease_until <= now.ms) AS oldest_due_at,
				min(id) FILTER (WHERE due_at = 0 AND lease_until <= now.ms) AS oldest_id
			FROM jobs, now GROUP BY kind) AS kinds),
		'projections', (SELECT jsonb_agg(jsonb_build_object('name', name, 'position', seq,
			'behind', greatest((SELECT seq FROM log_end) - seq, 0)) ORDER BY name) FROM (
				SELECT 'inbox' AS name, seq FROM inbox_progress UNION ALL SELECT 'statistics', seq FROM statistics_state
			) AS projections),
		'log_end', (SELECT seq FROM log_end),
		'now_ms', (SELECT ms FROM now)
	) AS status`;
