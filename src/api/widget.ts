import { isDeepStrictEqual } from 'node:util';
import type { VisitorTokens } from '../access/index.ts';
import { AppError } from '../base/index.ts';
import { type EndUser, type Feedback, type Operation, operations, type WidgetMessageReply } from '../contract/index.ts';
import {
	type Conversations,
	type FinishedTurn,
	listMessages,
	type MessageForHuman,
	presentFor,
	presentForVisitor,
	type RunningTurn,
} from '../conversations/index.ts';
import { type Deployments, type VisibleDeployment, visitorKey } from '../deployments/index.ts';
import {
	createCors,
	HeaderBlock,
	type Headers,
	type HttpRequest,
	matchesEtag,
	type Route,
	type RouteResponse,
} from '../http/index.ts';
import type { ConversationRecord, DeploymentRecord, MessageRecord, Store } from '../store/index.ts';
import type { RawResponse } from './call.ts';
import { bySequence } from './conversations.ts';
import type { Cursors } from './cursors.ts';
import type { DemoOrigin } from './demo-origin.ts';
import {
	createIdempotentCall,
	fingerprintOf,
	type IdempotencyOptions,
	idempotencyKeyOf,
	requireWellFormedKey,
} from './idempotent-call.ts';
import { resumePosition, turnResponse, wantsStream } from './messages.ts';
import { inputReader } from './pipeline.ts';
import { respondDuringUse } from './revocable-response.ts';

export interface WidgetRoutesOptions extends IdempotencyOptions {
	store: Store;
	deployments: Deployments;
	conversations: Conversations;
	cursors: Cursors;
	visitorTokens: VisitorTokens;
	/** Our own page, which may show every deployment; null where it is switched off. */
	demo: DemoOrigin | null;
}

const PREFIX = '/api/v1/widget/';
const PREFIX_SEGMENTS = PREFIX.split('/').length - 1;
/** Characters of an Idempotency-Key that nobody else comes upon: the widget's are longer. */
const MIN_UNGUESSABLE_KEY_CHARS = 20;
const REPLY_TIMEOUT_MS = 15 * 60_000;
const JSON_HEADER = ['content-type', 'application/json; charset=utf-8'] as const;
const NO_STORE = ['cache-control', 'no-store'] as const;
const CONFIG_CACHE = ['cache-control', 'public, max-age=60, stale-while-revalidate=300'] as const;

const cors = createCors({
	methods: ['GET', 'POST'],
	requestHeaders: ['Content-Type', 'Authorization', 'Last-Event-ID', 'Idempotency-Key', 'If-None-Match'],
	exposedHeaders: ['Retry-After', 'ETag', 'X-Request-Id'],
	maxAgeSeconds: 86_400,
});

/** What the configuration's answers to pages of all origins have in common. */
const CONFIG_BLOCK = new HeaderBlock([JSON_HEADER, CONFIG_CACHE, ...cors.common]);

/** CORS headers for answers that no handler of ours made: a widget must be able to read why it was turned away. */
export function widgetErrorHeaders(request: HttpRequest): Headers {
	return isWidgetPath(request.path) ? cors.headers(request.header('origin')) : [];
}

/** Read as the router reads paths: any character may come percent-encoded, and another part of the path be broken. */
function isWidgetPath(path: string): boolean {
	if (path.startsWith(PREFIX) || !path.includes('%')) return path.startsWith(PREFIX);
	try {
		return `${path.split('/', PREFIX_SEGMENTS).map(decodeURIComponent).join('/')}/`.startsWith(PREFIX);
	} catch {
		return false;
	}
}

/** A visitor's request that passed the deployment's gate. */
interface VisitorRequest {
	/** The deployment as it was at the gate. */
	deployment: DeploymentRecord;
	/** Who the visitor is, where the deployment asks. */
	endUser: EndUser | null;
	/** When the visitor's token is over (milliseconds since the epoch); null where the deployment asks for none. */
	tokenExpiresAt: number | null;
	/** See `visitorKey`. */
	visitorKey: string;
	query: Record<string, string>;
	body: Record<string, unknown>;
	request: HttpRequest;
}

/** The public half: no credential, but a deployment whose allowlist names the page's origin. */
export function widgetRoutes(options: WidgetRoutesOptions): Route[] {
	const { store, deployments, conversations, cursors, visitorTokens, demo } = options;

	/** @throws AppError `domain_not_allowed` */
	const requireAllowedOrigin = (deployment: VisibleDeployment, request: HttpRequest): void => {
		const origin = pageOrigin(request);
		if (!deployment.allows(origin) && !demo?.allows(origin, request)) throw new AppError('domain_not_allowed');
	};

	/** Who the visitor is, and until when that is known. */
	const identify = async (
		{ features, jwt }: DeploymentRecord,
		request: HttpRequest,
	): Promise<Pick<VisitorRequest, 'endUser' | 'tokenExpiresAt'>> => {
		if (!features.jwt_required) return { endUser: null, tokenExpiresAt: null };
		const { end_user, expiresAt } = await visitorTokens.verify(jwt, request.header('authorization'));
		return { endUser: end_user, tokenExpiresAt: expiresAt };
	};

	/** Counts whoever is turned away, by the address: they have no other name. */
	const identifyOrCount = async (deployment: DeploymentRecord, request: HttpRequest) => {
		try {
			return await identify(deployment, request);
		} catch (error) {
			if (error instanceof AppError && error.code === 'invalid_jwt') {
				deployments.limits.countRequest(deployment.id, visitorKey(null, request.clientAddress));
			}
			throw error;
		}
	};

	/** A route whose deployment is checked before its handler runs. */
	const route = (operation: Operation, handle: (visit: VisitorRequest) => Promise<RouteResponse>): Route => {
		const read = inputReader(operation);
		return {
			method: operation.method,
			path: operation.path,
			responseTimeoutMs: REPLY_TIMEOUT_MS,
			async handle(request) {
				requireWellFormedKey(request);
				const query = read.query(request) as Record<string, string>;
				const body = ((await read.body(request)) ?? {}) as Record<string, unknown>;
				const visible = await deployments.visible((body.deployment_id ?? query.deployment_id) as string);
				requireAllowedOrigin(visible, request);
				const deployment = visible.record;
				request.addLogFields({ workspace: deployment.workspace_id, deployment: deployment.id });
				const { endUser, tokenExpiresAt } = await identifyOrCount(deployment, request);
				const visitor = visitorKey(endUser?.id ?? null, request.clientAddress);
				const response = await handle({
					deployment,
					endUser,
					tokenExpiresAt,
					visitorKey: visitor,
					query,
					body,
					request,
				});
				return { ...response, headers: [...(response.headers ?? []), ...cors.headers(request.header('origin'))] };
			},
		};
	};

	/** Answers with an event stream, for as long as the visit would be let in. */
	const respondWithStream = (
		visit: VisitorRequest,
		respond: (request: HttpRequest) => Promise<RouteResponse>,
	): Promise<RouteResponse> => {
		const { deployment, endUser, tokenExpiresAt, visitorKey: visitor, request } = visit;
		const stream = deployments.openStream({
			deployment,
			visitor,
			expiresAt: tokenExpiresAt,
			signal: request.signal,
			async recheckAccess(present) {
				requireAllowedOrigin(present, request);
				if (hasSameTokenRules(present.record, deployment)) return;
				const now = await identify(present.record, request);
				// Known by another name, or by none any more, they would not find their conversation.
				if (now.endUser?.id !== endUser?.id) throw new AppError('invalid_jwt');
			},
		});
		return respondDuringUse(stream, request, async (revocableRequest) => {
			const response = await respond(revocableRequest);
			return 'events' in response ? { ...response, events: stream.untilRevoked(response.events) } : response;
		});
	};

	const json = (status: number, result: unknown): RouteResponse => ({
		status,
		headers: [JSON_HEADER, NO_STORE],
		body: JSON.stringify(result),
	});

	/** @throws AppError `not_found` also for another visitor's conversation */
	const conversationOf = async (visit: VisitorRequest, id: string): Promise<ConversationRecord> => {
		const record = await conversations.get(visit.deployment, id);
		if (!belongsToVisitor(visit, record)) throw new AppError('not_found', 'The conversation does not exist.');
		return record;
	};

	const config = (id: string, deployment: VisibleDeployment, request: HttpRequest): RouteResponse => {
		const { etag, body } = deployment.config;
		requireAllowedOrigin(deployment, request);
		deployments.limits.countConfig(id, request.clientAddress);
		const origin = request.header('origin');
		const caching = origin === undefined ? NO_STORE : CONFIG_CACHE;
		if (matchesEtag(request.header('if-none-match'), etag)) {
			return { status: 304, headers: [['etag', etag], caching, ...cors.headers(origin)] };
		}
		if (origin === undefined) {
			return { status: 200, headers: [JSON_HEADER, ['etag', etag], caching, ...cors.headers(origin)], body };
		}
		const headers: Headers = [
			['etag', etag],
			['access-control-allow-origin', origin],
		];
		return { status: 200, headerBlock: CONFIG_BLOCK, headers, body };
	};

	const getConfig: Route = {
		method: 'GET',
		path: operations.getWidgetConfig.path,
		isLogSampled: true,
		handle(request) {
			const id = request.queryValue('deployment_id');
			if (id === null || id === '') {
				throw new AppError('invalid_request', '/deployment_id is required.', {
					details: [{ path: '/deployment_id', message: 'is required' }],
				});
			}
			// The hot path: an awake deployment is answered in this turn, from bytes that are ready.
			const awake = deployments.peekVisible(id);
			return awake
				? config(id, awake, request)
				: deployments.visible(id).then((visible) => config(id, visible, request));
		},
	};

	/** Sends a message, or finds the one that it repeats. */
	const sendOrReplay = async (visit: VisitorRequest, stream: boolean, request: HttpRequest): Promise<RouteResponse> => {
		const { deployment, endUser, visitorKey: visitor, body } = visit;
		const respond = (turn: RunningTurn | FinishedTurn | MessageForHuman) =>
			turnResponse(conversations, turn, request, stream, 'visitor') as Promise<RawResponse | WidgetMessageReply>;
		// A phone that changes networks sends the same message from another address: whoever has such a key is its maker.
		const isUnguessable = endUser === null && (idempotencyKeyOf(request)?.length ?? 0) >= MIN_UNGUESSABLE_KEY_CHARS;
		const scope = `${deployment.id} ${isUnguessable ? 'anybody' : visitor} POST ${operations.sendWidgetMessage.path}`;
		// A repeat is no message more, but not free either.
		if (request.header('idempotency-key') !== undefined) deployments.limits.countRequest(deployment.id, visitor);
		const { runIdempotently, responses } = createIdempotentCall(operations.sendWidgetMessage, scope, request, options);
		const response = await runIdempotently(
			() => fingerprintOf(body),
			async (claim) => {
				deployments.limits.countMessage(deployment.id, visitor, deployment.rate_limit.messages_per_minute);
				const conversation_id = body.conversation_id as string | undefined;
				if (conversation_id !== undefined) await conversationOf(visit, conversation_id);
				const sendOrReplay = await conversations.send({
					deployment,
					conversation_id,
					content: body.content as string,
					metadata: body.metadata as Record<string, unknown> | undefined,
					channel: 'widget',
					end_user: endUser,
					receipt: claim?.receiptKey(),
				});
				claim?.releaseEarly();
				return respond(sendOrReplay);
			},
			async (pending, claim) => {
				const turn = await conversations.joinRepeat(pending);
				claim.releaseEarly();
				return respond(turn);
			},
		);
		return responses.toResponse(response);
	};

	const send = route(operations.sendWidgetMessage, async (visit) => {
		const { deployment, body, request } = visit;
		const stream = deployment.features.streaming && wantsStream(request, body.stream as boolean | undefined);
		return stream
			? respondWithStream(visit, (revocableRequest) => sendOrReplay(visit, true, revocableRequest))
			: sendOrReplay(visit, false, request);
	});

	/** @throws AppError `rate_limit_exceeded` */
	const countRequest = ({ deployment, visitorKey: visitor }: VisitorRequest) =>
		deployments.limits.countRequest(deployment.id, visitor);

	const history = route(operations.listWidgetMessages, async (visit) => {
		countRequest(visit);
		const { id } = await conversationOf(visit, visit.request.params.id as string);
		const list = `visitor messages ${id}`;
		const page = cursors.read(list, visit.query as object, 'asc');
		const records = await listMessages(store, { ...page, limit: page.limit + 1, where: { conversation_id: id } });
		const present = (record: MessageRecord) => presentFor('visitor', record);
		return json(200, cursors.page(list, page, records, bySequence, present));
	});

	const follow = route(operations.followWidgetConversation, async (visit) => {
		countRequest(visit);
		return respondWithStream(visit, async (request) => {
			const { id } = await conversationOf(visit, request.params.id as string);
			const after = resumePosition(request, visit.query.last_event_id);
			return { events: conversations.follow(id, { after, signal: request.signal, audience: 'visitor' }) };
		});
	});

	const stop = route(operations.stopWidgetReply, async (visit) => {
		countRequest(visit);
		const { id } = await conversationOf(visit, visit.request.params.id as string);
		return json(200, { stopped: await conversations.stop(id) });
	});

	const rate = route(operations.rateWidgetMessage, async (visit) => {
		countRequest(visit);
		const { body, request } = visit;
		const { rating, comment } = body as unknown as Feedback;
		const belongsToCaller = (conversation: ConversationRecord) => belongsToVisitor(visit, conversation);
		const rated = await conversations.rate(request.params.id as string, { rating, comment }, belongsToCaller);
		return json(200, presentForVisitor(rated));
	});

	const routes = [getConfig, send, history, follow, stop, rate];
	const preflights = routes.map(
		({ path }): Route => ({
			method: 'OPTIONS',
			path,
			isLogSampled: true,
			handle: (request) => cors.preflight(request),
		}),
	);
	return [...routes, ...preflights];
}

/** Whether two states of a deployment know their visitors by the same tokens. */
function hasSameTokenRules(one: DeploymentRecord, other: DeploymentRecord): boolean {
	if (one.features.jwt_required !== other.features.jwt_required) return false;
	return !one.features.jwt_required || isDeepStrictEqual(one.jwt, other.jwt);
}

/** The origin of the page that asks: Origin decides, Referer only where it is absent. */
function pageOrigin(request: HttpRequest): string | null {
	const origin = request.header('origin');
	if (origin !== undefined) return origin;
	const referer = request.header('referer');
	return referer !== undefined && URL.canParse(referer) ? new URL(referer).origin : null;
}

/** Whether a conversation is the visitor's: begun here, by the same subject; or by nobody known, where nobody is known now. */
function belongsToVisitor(
	{ deployment, endUser }: VisitorRequest,
	{ deployment_id, end_user_id }: ConversationRecord,
): boolean {
	return deployment_id === deployment.id && end_user_id === (endUser?.id ?? null);
}
