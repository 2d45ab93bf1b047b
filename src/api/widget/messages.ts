import { AppError } from '../../base/index.ts';
import { type Feedback, operations, type SendMessage, type WidgetPersonRequest } from '../../contract/index.ts';
import { type Conversations, listMessages, presentFor, presentForVisitor } from '../../conversations/index.ts';
import { type Deployments, visitorAccount } from '../../deployments/index.ts';
import type { HttpRequest, RouteResponse } from '../../http/index.ts';
import type { ConversationRecord, MessageRecord, Store } from '../../store/index.ts';
import { bySequence } from '../conversations.ts';
import type { Cursors } from '../cursors.ts';
import { createIdempotentCall, type IdempotencyOptions, idempotencyKeyOf } from '../idempotent-call.ts';
import { respondDuringUse } from '../revocable-response.ts';
import { sendMessage } from '../send-message.ts';
import { resumePosition, wantsStream } from '../stream-request.ts';
import type { VisitorAdmission } from './visitor-admission.ts';
import type { VisitorHandler, VisitorRequest } from './visitor-route.ts';

export interface VisitorMessageOptions extends IdempotencyOptions {
	admission: VisitorAdmission;
	store: Store;
	deployments: Deployments;
	conversations: Conversations;
	cursors: Cursors;
}

type VisitorOperation =
	| 'sendWidgetMessage'
	| 'listWidgetMessages'
	| 'followWidgetConversation'
	| 'stopWidgetReply'
	| 'requestPerson'
	| 'rateWidgetMessage';

/** From this length (characters) on, an Idempotency-Key cannot be guessed. The widget's keys are longer. */
const MIN_UNGUESSABLE_KEY_CHARS = 20;

/** A visitor's conversation: send a message, read the history, follow events, stop a reply, rate it. */
export function visitorHandlers(options: VisitorMessageOptions): { [K in VisitorOperation]: VisitorHandler } {
	const { admission, store, deployments, conversations, cursors } = options;

	/** @throws AppError `rate_limit_exceeded` */
	const countRequest = ({ deployment, visitorKey }: VisitorRequest): void | Promise<void> =>
		deployments.limits.countRequest(deployment.id, visitorKey);

	/** @throws AppError `not_found` also for another visitor's conversation */
	const conversationOf = async (visit: VisitorRequest, id: string): Promise<ConversationRecord> => {
		const record = await conversations.get(visit.deployment, id);
		if (!belongsToVisitor(visit, record)) throw new AppError('not_found', 'The conversation does not exist.');
		return record;
	};

	/** Responds with an event stream, which ends when the visitor would no longer be admitted. */
	const respondWithStream = (
		visit: VisitorRequest,
		respond: (request: HttpRequest) => Promise<RouteResponse>,
	): Promise<RouteResponse> => {
		const { deployment, tokenExpiresAt, visitorKey, request } = visit;
		const stream = deployments.openStream({
			deployment,
			visitor: visitorKey,
			expiresAt: tokenExpiresAt,
			request,
			recheckAccess: (current) => admission.recheck(visit, current, request),
		});
		return respondDuringUse(stream, request, respond);
	};

	/** Sends a message, or joins the turn of the message that it repeats. */
	const send = async (visit: VisitorRequest, stream: boolean, request: HttpRequest): Promise<RouteResponse> => {
		const { deployment, endUser, visitorKey, body } = visit;
		// Retries skip the message quota but count as requests.
		if (request.header('idempotency-key') !== undefined) await countRequest(visit);
		const { responses, ...idempotent } = createIdempotentCall(
			operations.sendWidgetMessage,
			idempotencyScope(visit),
			request,
			options,
		);
		const result = await sendMessage<typeof operations.sendWidgetMessage>(conversations, {
			request,
			body,
			stream,
			audience: 'visitor',
			idempotent,
			async prepare() {
				await deployments.limits.countMessage(deployment.id, visitorKey, deployment.rate_limit.messages_per_minute);
				const { conversation_id, content, metadata } = body as unknown as SendMessage;
				if (conversation_id !== undefined) await conversationOf(visit, conversation_id);
				const visitorId = () => visitorAccount(options.secrets, deployment.id, visitorKey);
				return { deployment, conversation_id, content, metadata, channel: 'widget', end_user: endUser, visitorId };
			},
		});
		return responses.toResponse(result);
	};

	return {
		async sendWidgetMessage(visit) {
			const { deployment, body, request } = visit;
			const stream = deployment.features.streaming && wantsStream(request, body.stream as boolean | undefined);
			return stream
				? respondWithStream(visit, (revocableRequest) => send(visit, true, revocableRequest))
				: send(visit, false, request);
		},

		async listWidgetMessages(visit) {
			await countRequest(visit);
			const conversation = await conversationOf(visit, visit.request.params.id as string);
			const { id } = conversation;
			const list = `visitor messages ${id}`;
			const page = cursors.read(list, visit.query as object, 'asc');
			const records = await listMessages(store, { ...page, limit: page.limit + 1, where: { conversation_id: id } });
			const present = (record: MessageRecord) => presentFor('visitor', record);
			const people = conversations.people.stateForVisitor(conversation);
			return jsonResponse({ ...cursors.page(list, page, records, bySequence, present), people });
		},

		async followWidgetConversation(visit) {
			await countRequest(visit);
			return respondWithStream(visit, async (request) => {
				const conversation = await conversationOf(visit, request.params.id as string);
				const after = resumePosition(request, visit.query.last_event_id);
				return { events: conversations.follow(conversation, { after, audience: 'visitor' }) };
			});
		},

		async stopWidgetReply(visit) {
			await countRequest(visit);
			const { id } = await conversationOf(visit, visit.request.params.id as string);
			return jsonResponse({ stopped: await conversations.stop(id) });
		},

		async requestPerson(visit) {
			await countRequest(visit);
			const { withdraw = false, email = null } = visit.body as unknown as WidgetPersonRequest;
			const { id } = await conversationOf(visit, visit.request.params.id as string);
			if (!withdraw && visit.deployment.features.handoff !== true) throw new AppError('handoff_disabled');
			const changed = await conversations.requestPerson(id, { withdraw, email });
			return jsonResponse({ conversation_id: id, ...conversations.people.stateForVisitor(changed) });
		},

		async rateWidgetMessage(visit) {
			await countRequest(visit);
			const { body, request } = visit;
			const feedback = body as unknown as Feedback;
			const belongsToCaller = (conversation: ConversationRecord) => belongsToVisitor(visit, conversation);
			const rating = conversations.rate(request.params.id as string, feedback, belongsToCaller);
			return jsonResponse(presentForVisitor(await rating.commit()));
		},
	};
}

/**
 * The scope of an anonymous visitor's unguessable key has no visitor: a phone that changes networks repeats the message from
 * another address, and only the client that made the key can know it.
 */
function idempotencyScope({ deployment, endUser, visitorKey, request }: VisitorRequest): string {
	const isUnguessable = endUser === null && (idempotencyKeyOf(request)?.length ?? 0) >= MIN_UNGUESSABLE_KEY_CHARS;
	return `${deployment.id} ${isUnguessable ? 'anybody' : visitorKey} POST ${operations.sendWidgetMessage.path}`;
}

/** Whether a conversation was started with this deployment by the same end user, or anonymously where the visitor is anonymous. */
function belongsToVisitor(
	{ deployment, endUser }: VisitorRequest,
	{ deployment_id, end_user_id }: ConversationRecord,
): boolean {
	return deployment_id === deployment.id && end_user_id === (endUser?.id ?? null);
}

function jsonResponse(result: unknown): RouteResponse {
	return {
		status: 200,
		headers: [
			['content-type', 'application/json; charset=utf-8'],
			['cache-control', 'no-store'],
		],
		body: JSON.stringify(result),
	};
}
