import type { Readable } from 'node:stream';
import { AppError, anySignal, type Clock, elapsedMs, sleep } from '../base/index.ts';
import { type HttpRequest, type RouteResponse, TIMEOUT_HEADER } from '../http/index.ts';
import { type PeerClient, PeerError, type PeerResponse } from '../net/index.ts';
import { CLUSTER_KEY, NOT_THE_OWNER } from './cluster-headers.ts';
import { ForwardedEvents } from './forwarded-events.ts';
import type { Placement } from './placement.ts';
import { placeElsewhere, type ShardKey } from './shard-key.ts';

export interface ForwarderOptions {
	placement: Pick<Placement, 'fenceOf' | 'nodeOf' | 'isAlive'>;
	nodeId: string;
	peers: Pick<PeerClient, 'send'>;
	/** What nodes of one cluster know. */
	clusterKey: string;
	clock: Clock;
	/** Called when another node did not answer. */
	onFailure?: () => void;
	/** For how long a request waits for an owner that can be reached (ms). */
	patienceMs?: number;
}

const PATIENCE_MS = 10_000;
/** Between two attempts, and between two looks at who the owner is (ms). */
const RETRY_MS = 100;
/** No JSON body may be larger. */
const MAX_REQUEST_BYTES = 1024 * 1024;
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** What concerns one connection, or what this node sets itself. */
const DROPPED_REQUEST_HEADERS = new Set([
	...['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'upgrade', 'te', 'trailer', 'expect', 'host'],
	...['x-forwarded-for', 'x-request-id', CLUSTER_KEY, TIMEOUT_HEADER],
]);
const DROPPED_RESPONSE_HEADERS = new Set([
	...['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'date', 'x-request-id', 'server'],
]);

/**
 * Passes a request to the node that owns what it is about. A request that the other node has not accepted is sent again to the
 * next owner. After that it is repeated only where a repeat changes nothing: without a change, or with an Idempotency-Key.
 *
 * The owner has the span of the request: only it checks the credential, and without a valid key the caller chooses no trace.
 */
export class Forwarder {
	readonly #options: ForwarderOptions;

	constructor(options: ForwarderOptions) {
		this.#options = options;
	}

	/**
	 * @param shardKey names the conversation or deployment; null: this node may handle the request, unless it finds that it concerns
	 * what another one serves
	 * @param local handles the request on this node
	 * @throws AppError `unavailable` when no owner could be reached in time, or the outcome is unknown
	 */
	async handle(
		request: HttpRequest,
		shardKey: ShardKey,
		local: () => RouteResponse | Promise<RouteResponse>,
	): Promise<RouteResponse> {
		const { placement, nodeId, clock, onFailure, patienceMs = PATIENCE_MS } = this.#options;
		const body = request.hasBody ? await request.bytes(MAX_REQUEST_BYTES) : null;
		const rewind = () => body !== null && request.restoreBody(body);
		let id = await shardKey(request);
		const deadline = elapsedMs(clock) + patienceMs;
		let failure: PeerError | undefined;
		while (!request.signal.aborted) {
			if (id === null || placement.fenceOf(id) !== null) {
				rewind();
				const response = await local();
				id = placeElsewhere(response);
				if (id === null) return response;
			}
			const node = placement.nodeOf(id);
			if (node !== null && node.id !== nodeId) {
				const response = await this.#attempt(request, id, node, body);
				if (response !== null && !(response instanceof PeerError)) {
					request.suppressSpan();
					return response;
				}
				if (response !== null && failure === undefined) onFailure?.();
				failure = response ?? failure;
			}
			if (elapsedMs(clock) >= deadline) throw noOwnerError(failure);
			await sleep(RETRY_MS, request.signal);
		}
		throw noOwnerError(failure);
	}

	/** @returns where the request may be sent again: null when the node has refused it, or why the node did not answer */
	async #attempt(
		request: HttpRequest,
		id: string,
		node: { id: string; address: string },
		body: Uint8Array | null,
	): Promise<RouteResponse | PeerError | null> {
		const { peers, onFailure } = this.#options;
		const watch = this.#watchOwner(id, node.id);
		const signal = anySignal(request.signal, watch.signal);
		try {
			const { method, target: path } = request;
			const headers = this.#headersFor(request);
			const response = await peers.send({ address: node.address, method, path, headers, body, signal });
			if (response.headers.some(([name]) => name === NOT_THE_OWNER)) {
				watch.stop();
				response.body.on('error', () => {}).destroy();
				return null;
			}
			if (isEventStream(response)) {
				// It is closed when another node becomes the owner, so that the client resumes there.
				response.body.once('close', watch.stop);
				return streamResponse(response);
			}
			const { status } = response;
			const whole = { status, headers: response.headers.filter(isPassedOn), body: await readAll(response.body) };
			watch.stop();
			return whole;
		} catch (error) {
			watch.stop();
			const failure = error instanceof PeerError ? error : null;
			if (failure?.isUnsent || isRepeatable(request)) return failure;
			if (failure) onFailure?.();
			throw new AppError(
				'unavailable',
				'The node that handles this did not answer. It may have carried the request out.',
				{
					retry_after: 1,
					cause: error,
				},
			);
		}
	}

	/**
	 * Aborts when another node is the owner: at once where the first one has lost its lease, because it is frozen or cut off and will not
	 * answer. After a hand-over the first one is alive: it ends what it has begun and refuses the rest, so it has some time.
	 */
	#watchOwner(id: string, nodeId: string): { signal: AbortSignal; stop(): void } {
		const { placement, clock, patienceMs = PATIENCE_MS } = this.#options;
		const controller = new AbortController();
		let changedAt: number | null = null;
		const timer = setInterval(() => {
			const owner = placement.nodeOf(id);
			if (owner === null || owner.id === nodeId) {
				changedAt = null;
				return;
			}
			changedAt ??= elapsedMs(clock);
			if (placement.isAlive(nodeId) && elapsedMs(clock) - changedAt < patienceMs) return;
			controller.abort(new Error('Another node is the owner now.'));
		}, RETRY_MS);
		return { signal: controller.signal, stop: () => clearInterval(timer) };
	}

	#headersFor(request: HttpRequest): Record<string, string> {
		const headers: Record<string, string> = {};
		for (const name of new Set(request.headerNames)) {
			const value = DROPPED_REQUEST_HEADERS.has(name) ? undefined : request.header(name);
			if (value !== undefined) headers[name] = value;
		}
		headers.host = request.header('host') ?? '';
		headers[CLUSTER_KEY] = this.#options.clusterKey;
		headers['x-forwarded-for'] = request.clientAddress;
		headers['x-request-id'] = request.id;
		const leftMs = request.deadlineAt - performance.now();
		if (Number.isFinite(leftMs)) headers[TIMEOUT_HEADER] = String(Math.max(1, Math.round(leftMs)));
		return headers;
	}
}

function isRepeatable(request: HttpRequest): boolean {
	return request.method === 'GET' || request.method === 'HEAD' || request.header('idempotency-key') !== undefined;
}

/** @param cause where its node was known, and did not answer */
function noOwnerError(cause?: PeerError): AppError {
	return new AppError('unavailable', 'No node handles this at present. Try again.', { retry_after: 1, cause });
}

function isPassedOn([name]: readonly [string, string]): boolean {
	return !DROPPED_RESPONSE_HEADERS.has(name);
}

function isEventStream({ status, headers }: PeerResponse): boolean {
	return (
		status === 200 && headers.some(([name, value]) => name === 'content-type' && value.startsWith('text/event-stream'))
	);
}

function streamResponse({ headers, body }: PeerResponse): RouteResponse {
	const passedOn = headers.filter((header) => isPassedOn(header) && header[0] !== 'content-type');
	return { headers: passedOn, events: new ForwardedEvents(body) };
}

async function readAll(body: Readable): Promise<Uint8Array> {
	const chunks: Buffer[] = [];
	let size = 0;
	for await (const chunk of body as AsyncIterable<Buffer>) {
		size += chunk.length;
		if (size > MAX_RESPONSE_BYTES) throw new Error('The response of another node is too large.');
		chunks.push(chunk);
	}
	return Buffer.concat(chunks, size);
}
