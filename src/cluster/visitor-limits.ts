import { AppError, type Clock, elapsedMs } from '../base/index.ts';
import type { Route, RouteResponse } from '../http/index.ts';
import { type PeerClient, PeerError } from '../net/index.ts';
import { CLUSTER_KEY, NOT_THE_OWNER } from './cluster-headers.ts';
import type { Placement } from './placement.ts';

/** Counts an event of a visitor on this node: the whole seconds until an event is within the limit again; 0: this one is. */
export type CountHere = (
	of: 'messages' | 'requests',
	deploymentId: string,
	visitor: string,
	perMinute: number,
) => number;

/** One event of a visitor, as nodes send it to each other. */
interface VisitorEvent {
	of: 'messages' | 'requests';
	deployment_id: string;
	visitor: string;
	per_minute: number;
}

export interface VisitorLimitsClientOptions {
	placement: Pick<Placement, 'fenceOf' | 'nodeOf'>;
	nodeId: string;
	peers: Pick<PeerClient, 'send'>;
	clusterKey: string;
	clock: Clock;
	/** How long the owner may take (ms). */
	timeoutMs?: number;
	/** Called when another node did not answer. */
	onFailure?: () => void;
}

const PATH = '/cluster/v1/visitor-limits';
const TIMEOUT_MS = 500;
/** An owner that did not answer is not asked again for so long (ms). Until then the shard has moved, or the owner is back. */
const RETRY_MS = 1_000;
/** Above this number of requests in flight, this node counts for itself. */
const MAX_IN_FLIGHT = 1_000;
const MAX_UNREACHABLE = 100;
const MAX_RESPONSE_BYTES = 1_000;
const MAX_VISITOR_CHARS = 200;

/**
 * Counts events of visitors at the node that owns their deployment, so that the limits hold for the whole cluster. Where the owner
 * does not answer in time, the node that has the request counts in its own memory.
 */
export class VisitorLimitsClient {
	readonly #options: VisitorLimitsClientOptions;
	/** Nodes that did not answer, and until when they are not asked (ms, monotonic). */
	readonly #unreachable = new Map<string, number>();
	#inFlight = 0;

	constructor(options: VisitorLimitsClientOptions) {
		this.#options = options;
	}

	/** @returns undefined where this node counts; null where the owner did not answer; otherwise what it has counted */
	count(
		of: VisitorEvent['of'],
		deploymentId: string,
		visitor: string,
		perMinute: number,
	): Promise<number | null> | undefined {
		const { placement, nodeId } = this.#options;
		if (placement.fenceOf(deploymentId) !== null || this.#inFlight >= MAX_IN_FLIGHT) return undefined;
		const node = placement.nodeOf(deploymentId);
		if (node === null || node.id === nodeId || this.#isUnreachable(node.id)) return undefined;
		return this.#countAt(node, { of, deployment_id: deploymentId, visitor, per_minute: perMinute });
	}

	async #countAt(node: { id: string; address: string }, event: VisitorEvent): Promise<number | null> {
		const { peers, clusterKey, timeoutMs = TIMEOUT_MS } = this.#options;
		this.#inFlight++;
		const signal = AbortSignal.timeout(timeoutMs);
		try {
			const response = await peers.send({
				address: node.address,
				method: 'POST',
				path: PATH,
				headers: { 'content-type': 'application/json', [CLUSTER_KEY]: clusterKey },
				body: Buffer.from(JSON.stringify(event)),
				signal,
			});
			const text = await textOf(response.body);
			// The shard has just moved: the next renewal of the lease tells where.
			if (response.status === 421) return null;
			if (response.status !== 200) throw new Error(`The node answered ${response.status}.`);
			return retryAfterOf(text);
		} catch (error) {
			if (error instanceof PeerError || signal.aborted) this.#options.onFailure?.();
			// Ids of nodes that have ended long ago are not asked about again, and would stay.
			if (this.#unreachable.size >= MAX_UNREACHABLE) this.#unreachable.clear();
			this.#unreachable.set(node.id, elapsedMs(this.#options.clock) + RETRY_MS);
			return null;
		} finally {
			this.#inFlight--;
		}
	}

	#isUnreachable(nodeId: string): boolean {
		const until = this.#unreachable.get(nodeId);
		if (until === undefined) return false;
		if (elapsedMs(this.#options.clock) < until) return true;
		this.#unreachable.delete(nodeId);
		return false;
	}
}

/** The route by which other nodes count visitors of the deployments that this node owns. The caller of it checks the cluster's key. */
export function visitorLimitRoutes({
	placement,
	countHere,
}: {
	placement: Pick<Placement, 'fenceOf'>;
	countHere: CountHere;
}): Route[] {
	return [
		{
			method: 'POST',
			path: PATH,
			isLogSampled: true,
			async handle(request): Promise<RouteResponse> {
				const event = await request.json();
				if (!isVisitorEvent(event)) throw new AppError('invalid_request', 'This is not an event of a visitor.');
				const { of, deployment_id, visitor, per_minute } = event;
				if (placement.fenceOf(deployment_id) === null) return { status: 421, headers: [[NOT_THE_OWNER, '1']] };
				const retry_after = countHere(of, deployment_id, visitor, per_minute);
				return {
					status: 200,
					headers: [['content-type', 'application/json']],
					body: JSON.stringify({ retry_after }),
				};
			},
		},
	];
}

function isVisitorEvent(value: unknown): value is VisitorEvent {
	if (typeof value !== 'object' || value === null) return false;
	const { of, deployment_id, visitor, per_minute } = value as Partial<Record<keyof VisitorEvent, unknown>>;
	return (
		(of === 'messages' || of === 'requests') &&
		typeof deployment_id === 'string' &&
		typeof visitor === 'string' &&
		deployment_id.length + visitor.length <= MAX_VISITOR_CHARS &&
		Number.isSafeInteger(per_minute)
	);
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
	const chunks: Buffer[] = [];
	let size = 0;
	for await (const chunk of body) {
		size += chunk.length;
		if (size > MAX_RESPONSE_BYTES) throw new Error('The response of another node is too large.');
		chunks.push(chunk);
	}
	return Buffer.concat(chunks).toString();
}

function retryAfterOf(text: string): number {
	const { retry_after } = JSON.parse(text) as { retry_after?: unknown };
	if (typeof retry_after !== 'number') throw new Error('The response of another node has no result.');
	return retry_after;
}
