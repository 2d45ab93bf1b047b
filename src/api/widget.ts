import { isDeepStrictEqual } from 'node:util';
import type { VisitorTokens } from '../access/index.ts';
import { AppError } from '../base/index.ts';
import { type EndUser, type Feedback, type Operation, operations, type WidgetMessageReply } from '../contract/index.ts';
import {
	type Conversations,
	type EndedTurn,
	listMessages,
	type NotedMessage,
	presentFor,
	presentForVisitor,
	type SentMessage,
} from '../conversations/index.ts';
import { type Deployments, type VisibleDeployment, visitorKey } from '../deployments/index.ts';
import {
	createCors,
	HeaderBlock,
	type Headers,
	type HttpRequest,
	namesEtag,
	type Reply,
	type Route,
} from '../http/index.ts';
import type { ConversationRecord, DeploymentRecord, MessageRecord, Store } from '../store/index.ts';
import type { RawReply } from './call.ts';
import { bySequence } from './conversations.ts';
import type { Cursors } from './cursors.ts';
import type { DemoOrigin } from './demo-origin.ts';
import { pendingReceipt, resumePoint, turnAnswer, wantsStream } from './messages.ts';
import { inputReader } from './pipeline.ts';
import { fingerprintOf, type RepeatOptions, repeatKey, repeatsOf, requireSoundKey } from './repeats.ts';
import { whileInUse } from './while-good.ts';

export interface WidgetRoutesOptions extends RepeatOptions {
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
const OWN_KEY = 20;
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

/** What the configuration's answers to pages of all origins have in common. */
const CONFIG_BLOCK = new HeaderBlock([JSON_HEADER, CONFIG_CACHE, ...cors.common]);

/** CORS headers for answers that no handler of ours made: a widget must be able to read why it was turned away. */
export function widgetErrorHeaders(request: HttpRequest): Headers {
	return isOfWidget(request.path) ? cors.headers(request.header('origin')) : [];
}

/** Read as the router reads paths: any character may come percent-encoded, and another part of the path be broken. */
function isOfWidget(path: string): boolean {
	if (path.startsWith(PREFIX) || !path.includes('%')) return path.startsWith(PREFIX);
	try {
		return `${path.split('/', PREFIX_SEGMENTS).map(decodeURIComponent).join('/')}/`.startsWith(PREFIX);
	} catch {
		return false;
	}
}

/** A visitor's request that passed the deployment's gate. */
interface Visit {
	/** The deployment as it was at the gate. */
	deployment: DeploymentRecord;
	/** Who the visitor is, where the deployment asks. */
	endUser: EndUser | null;
	/** When the visitor's token is over (milliseconds since the epoch); null where the deployment asks for none. */
	until: number | null;
	/** See `visitorKey`. */
	visitor: string;
	query: Record<string, string>;
	body: Record<string, unknown>;
	request: HttpRequest;
}

/** The public half: no credential, but a deployment whose allowlist names the page's origin. */
export function widgetRoutes(options: WidgetRoutesOptions): Route[] {
	const { store, deployments, conversations, cursors, visitorTokens, demo } = options;

	/** @throws AppError `domain_not_allowed` */
	const admit = (deployment: VisibleDeployment, request: HttpRequest): void => {
		const origin = pageOrigin(request);
		if (!deployment.allows(origin) && !demo?.admits(origin, request)) throw new AppError('domain_not_allowed');
	};

	/** Who the visitor is, and until when that is known. */
	const identify = async (
		{ features, jwt }: DeploymentRecord,
		request: HttpRequest,
	): Promise<Pick<Visit, 'endUser' | 'until'>> => {
		if (!features.jwt_required) return { endUser: null, until: null };
		const { end_user, until } = await visitorTokens.verify(jwt, request.header('authorization'));
		return { endUser: end_user, until };
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
	const route = (operation: Operation, handle: (visit: Visit) => Promise<Reply>): Route => {
		const read = inputReader(operation);
		return {
			method: operation.method,
			path: operation.path,
			deadlineMs: REPLY_DEADLINE_MS,
			async handle(request) {
				requireSoundKey(request);
				const query = read.query(request) as Record<string, string>;
				const body = ((await read.body(request)) ?? {}) as Record<string, unknown>;
				const visible = await deployments.visible((body.deployment_id ?? query.deployment_id) as string);
				admit(visible, request);
				const deployment = visible.record;
				request.note({ workspace: deployment.workspace_id, deployment: deployment.id });
				const { endUser, until } = await identifyOrCount(deployment, request);
				const visitor = visitorKey(endUser?.id ?? null, request.clientAddress);
				const reply = await handle({ deployment, endUser, until, visitor, query, body, request });
				return { ...reply, headers: [...(reply.headers ?? []), ...cors.headers(request.header('origin'))] };
			},
		};
	};

	/** Answers with an event stream, for as long as the visit would be let in. */
	const streamed = (visit: Visit, answer: (request: HttpRequest) => Promise<Reply>): Promise<Reply> => {
		const { deployment, endUser, until, visitor, request } = visit;
		const stream = deployments.openStream({
			deployment,
			visitor,
			until,
			signal: request.signal,
			async judge(present) {
				admit(present, request);
				if (identifiesAlike(present.record, deployment)) return;
				const now = await identify(present.record, request);
				// Known by another name, or by none any more, they would not find their conversation.
				if (now.endUser?.id !== endUser?.id) throw new AppError('invalid_jwt');
			},
		});
		return whileInUse(stream, request, async (watched) => {
			const reply = await answer(watched);
			return 'events' in reply ? { ...reply, events: stream.whileLetIn(reply.events) } : reply;
		});
	};

	const json = (status: number, result: unknown): Reply => ({
		status,
		headers: [JSON_HEADER, NO_STORE],
		body: JSON.stringify(result),
	});

	/** @throws AppError `not_found` also for another visitor's conversation */
	const conversationOf = async (visit: Visit, id: string): Promise<ConversationRecord> => {
		const record = await conversations.get(visit.deployment, id);
		if (!isOf(visit, record)) throw new AppError('not_found', 'The conversation does not exist.');
		return record;
	};

	const config = (id: string, deployment: VisibleDeployment, request: HttpRequest): Reply => {
		const { etag, body } = deployment.config;
		admit(deployment, request);
		deployments.limits.countConfig(id, request.clientAddress);
		const origin = request.header('origin');
		const caching = origin === undefined ? NO_STORE : CONFIG_CACHE;
		if (namesEtag(request.header('if-none-match'), etag)) {
			return { status: 304, headers: [['etag', etag], caching, ...cors.headers(origin)] };
		}
		if (origin === undefined) {
			return { status: 200, headers: [JSON_HEADER, ['etag', etag], caching, ...cors.headers(origin)], body };
		}
		const headers: Headers = [
			['etag', etag],
			['access-control-allow-origin', origin],
		];
		return { status: 200, block: CONFIG_BLOCK, headers, body };
	};

	const getConfig: Route = {
		method: 'GET',
		path: operations.getWidgetConfig.path,
		sampled: true,
		handle(request) {
			const id = request.queryValue('deployment_id');
			if (id === null || id === '') {
				throw new AppError('invalid_request', '/deployment_id is required.', {
					details: [{ path: '/deployment_id', message: 'is required' }],
				});
			}
			// The hot path: an awake deployment is answered in this turn, from bytes that are ready.
			const awake = deployments.awake(id);
			return awake
				? config(id, awake, request)
				: deployments.visible(id).then((visible) => config(id, visible, request));
		},
	};

	/** Sends a message, or finds the one that it repeats. */
	const sent = async (visit: Visit, stream: boolean, request: HttpRequest): Promise<Reply> => {
		const { deployment, endUser, visitor, body } = visit;
		const answer = (turn: SentMessage | EndedTurn | NotedMessage) =>
			turnAnswer(conversations, turn, request, stream, 'visitor') as Promise<RawReply | WidgetMessageReply>;
		// A phone that changes networks sends the same message from another address: whoever has such a key is its maker.
		const isOwn = endUser === null && (repeatKey(request)?.length ?? 0) >= OWN_KEY;
		const scope = `${deployment.id} ${isOwn ? 'anybody' : visitor} POST ${operations.sendWidgetMessage.path}`;
		// A repeat is no message more, but not free either.
		if (request.header('idempotency-key') !== undefined) deployments.limits.countRequest(deployment.id, visitor);
		const { once, answers } = repeatsOf(operations.sendWidgetMessage, scope, request, options);
		const answered = await once(
			() => fingerprintOf(body),
			async (claim) => {
				deployments.limits.countMessage(deployment.id, visitor, deployment.rate_limit.messages_per_minute);
				const conversation_id = body.conversation_id as string | undefined;
				if (conversation_id !== undefined) await conversationOf(visit, conversation_id);
				const sent = await conversations.send({
					deployment,
					conversation_id,
					content: body.content as string,
					metadata: body.metadata as Record<string, unknown> | undefined,
					channel: 'widget',
					end_user: endUser,
					receipt: pendingReceipt(claim),
				});
				claim?.release();
				return answer(sent);
			},
			async (stored, claim) => {
				const turn = await conversations.repeated(stored);
				claim.release();
				return answer(turn);
			},
		);
		return answers.reply(answered);
	};

	const send = route(operations.sendWidgetMessage, async (visit) => {
		const { deployment, body, request } = visit;
		const stream = deployment.features.streaming && wantsStream(request, body.stream as boolean | undefined);
		return stream ? streamed(visit, (watched) => sent(visit, true, watched)) : sent(visit, false, request);
	});

	/** @throws AppError `rate_limit_exceeded` */
	const count = ({ deployment, visitor }: Visit) => deployments.limits.countRequest(deployment.id, visitor);

	const history = route(operations.listWidgetMessages, async (visit) => {
		count(visit);
		const { id } = await conversationOf(visit, visit.request.params.id as string);
		const list = `visitor messages ${id}`;
		const page = cursors.read(list, visit.query as object, 'asc');
		const records = await listMessages(store, { ...page, limit: page.limit + 1, where: { conversation_id: id } });
		const present = (record: MessageRecord) => presentFor('visitor', record);
		return json(200, cursors.page(list, page, records, bySequence, present));
	});

	const follow = route(operations.followWidgetConversation, async (visit) => {
		count(visit);
		return streamed(visit, async (request) => {
			const { id } = await conversationOf(visit, request.params.id as string);
			const after = resumePoint(request, visit.query.last_event_id);
			return { events: conversations.follow(id, { after, signal: request.signal, audience: 'visitor' }) };
		});
	});

	const stop = route(operations.stopWidgetReply, async (visit) => {
		count(visit);
		const { id } = await conversationOf(visit, visit.request.params.id as string);
		return json(200, { stopped: await conversations.stop(id) });
	});

	const rate = route(operations.rateWidgetMessage, async (visit) => {
		count(visit);
		const { body, request } = visit;
		const { rating, comment } = body as unknown as Feedback;
		const mine = (conversation: ConversationRecord) => isOf(visit, conversation);
		const rated = await conversations.rate(request.params.id as string, { rating, comment }, mine);
		return json(200, presentForVisitor(rated));
	});

	const routes = [getConfig, send, history, follow, stop, rate];
	const preflights = routes.map(
		({ path }): Route => ({ method: 'OPTIONS', path, sampled: true, handle: (request) => cors.preflight(request) }),
	);
	return [...routes, ...preflights];
}

/** Whether two states of a deployment know their visitors by the same tokens. */
function identifiesAlike(one: DeploymentRecord, other: DeploymentRecord): boolean {
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
function isOf({ deployment, endUser }: Visit, { deployment_id, end_user_id }: ConversationRecord): boolean {
	return deployment_id === deployment.id && end_user_id === (endUser?.id ?? null);
}
