import { AppError } from '../base/index.ts';
import { type Operation, operations } from '../contract/index.ts';
import { type Conversations, presentFor } from '../conversations/index.ts';
import type { Deployments, VisibleDeployment } from '../deployments/index.ts';
import { createCors, type Headers, type HttpRequest, namesEtag, type Reply, type Route } from '../http/index.ts';
import type { MessageRecord, Store } from '../store/index.ts';
import { bySequence } from './conversations.ts';
import type { Cursors } from './cursors.ts';
import { replyStream, resumePoint, wantsStream, wholeReply } from './messages.ts';
import { inputReader } from './pipeline.ts';

export interface WidgetRoutesOptions {
	store: Store;
	deployments: Deployments;
	conversations: Conversations;
	cursors: Cursors;
}

const PREFIX = '/api/v1/widget/';
const REPLY_DEADLINE_MS = 15 * 60_000;
const JSON_HEADER = ['content-type', 'application/json; charset=utf-8'] as const;
const NO_STORE = ['cache-control', 'no-store'] as const;
const CONFIG_CACHE = ['cache-control', 'public, max-age=60, stale-while-revalidate=300'] as const;

const cors = createCors({
	methods: ['GET', 'POST'],
	requestHeaders: ['Content-Type', 'Authorization', 'Last-Event-ID', 'Idempotency-Key', 'If-None-Match'],
	exposedHeaders: ['Retry-After', 'ETag', 'X-Request-Id'],
	maxAgeSeconds: 86_400,
});

/** CORS headers for answers that no handler of ours made: a widget must be able to read why it was turned away. */
export function widgetErrorHeaders(request: HttpRequest): Headers {
	return request.path.startsWith(PREFIX) ? cors.headers(request.header('origin')) : [];
}

/** A visitor's request that passed the deployment's gate. */
interface Visit {
	deployment: VisibleDeployment;
	query: Record<string, string>;
	body: Record<string, unknown>;
	request: HttpRequest;
}

/** The public half: no credential, but a deployment whose allowlist names the page's origin. */
export function widgetRoutes({ store, deployments, conversations, cursors }: WidgetRoutesOptions): Route[] {
	/** A route whose deployment is checked before its handler runs. */
	const route = (operation: Operation, handle: (visit: Visit) => Promise<Reply>): Route => {
		const read = inputReader(operation);
		return {
			method: operation.method,
			path: operation.path,
			deadlineMs: REPLY_DEADLINE_MS,
			async handle(request) {
				const query = read.query(request) as Record<string, string>;
				const body = ((await read.body(request)) ?? {}) as Record<string, unknown>;
				const deployment = await deployments.visible((body.deployment_id ?? query.deployment_id) as string);
				admit(deployment, request);
				requireVisitor(deployment);
				const reply = await handle({ deployment, query, body, request });
				return { ...reply, headers: [...(reply.headers ?? []), ...cors.headers(request.header('origin'))] };
			},
		};
	};

	const json = (status: number, result: unknown): Reply => ({
		status,
		headers: [JSON_HEADER, NO_STORE],
		body: JSON.stringify(result),
	});

	const conversationOf = ({ deployment, request }: Visit) =>
		conversations.get(deployment.record, request.params.id as string);

	const config = (deployment: VisibleDeployment, request: HttpRequest): Reply => {
		const { etag, body } = deployment.config;
		admit(deployment, request);
		deployments.limits.countConfig(deployment.record.id, request.clientAddress);
		const origin = request.header('origin');
		const caching = origin === undefined ? NO_STORE : CONFIG_CACHE;
		if (namesEtag(request.header('if-none-match'), etag)) {
			return { status: 304, headers: [['etag', etag], caching, ...cors.headers(origin)] };
		}
		return { status: 200, headers: [JSON_HEADER, ['etag', etag], caching, ...cors.headers(origin)], body };
	};

	const getConfig: Route = {
		method: 'GET',
		path: operations.getWidgetConfig.path,
		handle(request) {
			const id = request.query.get('deployment_id');
			if (id === null || id === '') {
				throw new AppError('invalid_request', '/deployment_id is required.', {
					details: [{ path: '/deployment_id', message: 'is required' }],
				});
			}
			// The hot path: an awake deployment is answered in this turn, from bytes that are ready.
			const awake = deployments.awake(id);
			return awake ? config(awake, request) : deployments.visible(id).then((visible) => config(visible, request));
		},
	};

	const send = route(operations.sendWidgetMessage, async ({ deployment, body, request }) => {
		const { record } = deployment;
		const perMinute = record.rate_limit.messages_per_minute;
		deployments.limits.countMessage(record.id, request.clientAddress, perMinute);
		const sent = await conversations.send({
			deployment: record,
			conversation_id: body.conversation_id as string | undefined,
			content: body.content as string,
			metadata: body.metadata as Record<string, unknown> | undefined,
			channel: 'widget',
			end_user: null,
		});
		if (record.features.streaming && wantsStream(request, body.stream as boolean | undefined)) {
			return replyStream(conversations, sent, request.signal, 'visitor');
		}
		return json(201, await wholeReply(conversations, sent, request.signal, 'visitor'));
	});

	const history = route(operations.listWidgetMessages, async (visit) => {
		const { id } = await conversationOf(visit);
		const list = `visitor messages ${id}`;
		const page = cursors.read(list, visit.query as object, 'asc');
		const records = await store.list('messages', { ...page, limit: page.limit + 1, where: { conversation_id: id } });
		const present = (record: MessageRecord) => presentFor('visitor', record);
		return json(200, cursors.page(list, page, records, bySequence, present));
	});

	const follow = route(operations.followWidgetConversation, async (visit) => {
		const { id } = await conversationOf(visit);
		const { request, query } = visit;
		const after = resumePoint(request, query.last_event_id);
		return { events: conversations.follow(id, { after, signal: request.signal, audience: 'visitor' }) };
	});

	const stop = route(operations.stopWidgetReply, async (visit) => {
		const { id } = await conversationOf(visit);
		return json(200, { stopped: await conversations.stop(id) });
	});

	const routes = [getConfig, send, history, follow, stop];
	const preflights = routes.map(
		({ path }): Route => ({ method: 'OPTIONS', path, handle: (request) => cors.preflight(request) }),
	);
	return [...routes, ...preflights];
}

/** @throws AppError `domain_not_allowed` */
function admit(deployment: VisibleDeployment, request: HttpRequest): void {
	if (!deployment.allows(pageOrigin(request))) throw new AppError('domain_not_allowed');
}

/** The origin of the page that asks: Origin decides, Referer only where it is absent. */
function pageOrigin(request: HttpRequest): string | null {
	const origin = request.header('origin');
	if (origin !== undefined) return origin;
	const referer = request.header('referer');
	return referer !== undefined && URL.canParse(referer) ? new URL(referer).origin : null;
}

/**
 * A deployment that requires visitors to identify themselves lets nobody in whom it cannot verify.
 * @throws AppError `invalid_jwt`
 */
function requireVisitor({ record }: VisibleDeployment): void {
	if (record.features.jwt_required) throw new AppError('invalid_jwt');
}
