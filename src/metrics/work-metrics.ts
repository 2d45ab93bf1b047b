import { Counter, Histogram, type Registry } from 'prom-client';
import type { CommitObserver } from '../store/index.ts';
import type { AttemptObserver } from '../webhooks/index.ts';

/** Seconds. */
const COMMIT = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const SEARCH = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3];
const LAG = [0.1, 0.5, 1, 5, 30, 60, 300, 1_800, 3_600, 21_600, 86_400];
/** Commits. */
const BATCH = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/** What the parts of the server report while they work. */
export class WorkMetrics {
	readonly commits: CommitObserver;
	readonly attempts: AttemptObserver;
	/** Takes the time of a search in milliseconds. */
	readonly onSearch: (ms: number) => void;
	/** Takes the name of the threads or of the process that was started again. */
	readonly onWorkerRestart: (name: string) => void;
	/** Another node of the cluster did not answer a request. */
	readonly onPeerFailure: () => void;

	constructor(registry: Registry) {
		const registers = [registry];
		const commits = new Histogram({
			name: 'parley_commit_duration_seconds',
			help: 'Time from a commit to its acknowledgement by the disk.',
			buckets: COMMIT,
			registers,
		});
		const batches = new Histogram({
			name: 'parley_commit_batch_size',
			help: 'Commits that share one transaction.',
			buckets: BATCH,
			registers,
		});
		this.commits = {
			onBatch: (size) => batches.observe(size),
			onCommit: (ms) => commits.observe(ms / 1_000),
		};
		const deliveries = new Counter({
			name: 'parley_webhook_attempts_total',
			help: 'Attempts of webhook deliveries, by outcome: delivered or failed.',
			labelNames: ['outcome'],
			registers,
		});
		const lag = new Histogram({
			name: 'parley_webhook_delivery_lag_seconds',
			help: 'Time from an event to the end of the attempt that delivered it.',
			buckets: LAG,
			registers,
		});
		this.attempts = (isDelivered, lagMs) => {
			deliveries.inc({ outcome: isDelivered ? 'delivered' : 'failed' });
			if (isDelivered) lag.observe(lagMs / 1_000);
		};
		const searches = new Histogram({
			name: 'parley_search_duration_seconds',
			help: 'Time of a search in knowledge bases, with the wait for the search thread.',
			buckets: SEARCH,
			registers,
		});
		this.onSearch = (ms) => searches.observe(ms / 1_000);
		const restarts = new Counter({
			name: 'parley_worker_restarts_total',
			help: 'Worker threads and parsing processes that failed and were replaced.',
			labelNames: ['worker'],
			registers,
		});
		this.onWorkerRestart = (worker) => restarts.inc({ worker });
		const peerFailures = new Counter({
			name: 'parley_cluster_request_failures_total',
			help: 'Requests to other nodes of the cluster that were not answered.',
			registers,
		});
		this.onPeerFailure = () => peerFailures.inc();
	}
}
