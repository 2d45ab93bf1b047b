import { AppError } from '../base/index.ts';
import type { Message, Operations } from '../contract/index.ts';
import {
	type Audience,
	type Conversations,
	type FinishedTurn,
	finishedTurnEvents,
	type MessageForHuman,
	messageForHumanEvents,
	type OutgoingMessage,
	presentFor,
	type RunningTurn,
} from '../conversations/index.ts';
import type { HttpRequest } from '../http/index.ts';
import { type HandlerResult, RawResponse } from './call.ts';
import { fingerprintOf, type Idempotent } from './idempotent-call.ts';

type SendOperation = Operations['sendMessage'] | Operations['sendWidgetMessage'];

/** A request to send a message, of either channel. */
export interface SendRequest<O extends SendOperation> {
	request: HttpRequest;
	/** As validated. A repeat of the request has the same. */
	body: unknown;
	/** Whether the response is an event stream; otherwise it waits for the whole reply. */
	stream: boolean;
	/** Who sees the response. */
	audience: Audience;
	idempotent: Pick<Idempotent<O>, 'requestReceipt' | 'runIdempotently'>;
	/** Checks that the message may be sent and describes it. Not called for a repeat. */
	prepare(): Promise<OutgoingMessage>;
}

type StartedTurn = RunningTurn | FinishedTurn | MessageForHuman;

/**
 * Sends a message and responds with its reply, for the API and for the widget. A repeat sends nothing: it joins the turn of the
 * first request. Repeats go on as soon as the message is stored, before the reply is written.
 * @throws AppError `model_error` where a reply failed that was not streamed
 */
export async function sendMessage<O extends SendOperation>(
	conversations: Conversations,
	{ request, body, stream, audience, idempotent, prepare }: SendRequest<O>,
): Promise<HandlerResult<O> | RawResponse> {
	const respond = async (turn: StartedTurn) => {
		logReplyId(request, turn);
		return stream
			? streamTurn(conversations, turn, audience)
			: ((await wholeTurn(conversations, turn, request.signal, audience)) as HandlerResult<O>);
	};
	return idempotent.runIdempotently(
		() => fingerprintOf(body),
		async (claim) => {
			const message = await prepare();
			const sending = conversations.send(message, idempotent.requestReceipt(), request.span);
			const turn = await withoutBudgets(sending, audience);
			claim?.releaseEarly();
			return respond(turn);
		},
		async (pending, claim) => {
			const turn = await withoutBudgets(conversations.joinRepeat(pending), audience);
			claim.releaseEarly();
			return respond(turn);
		},
	);
}

/** Other log lines about a reply name its id. */
function logReplyId(request: HttpRequest, turn: StartedTurn): void {
	if ('messageForHuman' in turn) return;
	request.addLogFields({ message: 'finishedReply' in turn ? turn.finishedReply.id : turn.reply.id });
}

/** The response as an event stream: of a running turn as it happens, of a finished one from what is stored. */
function streamTurn(conversations: Conversations, turn: StartedTurn, audience: Audience): RawResponse {
	if ('messageForHuman' in turn) return new RawResponse({ events: messageForHumanEvents(turn, audience) });
	if ('finishedReply' in turn) return new RawResponse({ events: finishedTurnEvents(turn, audience) });
	return new RawResponse({ events: conversations.followTurn(turn, { audience }) });
}

/** The response as a whole, once the reply has ended. */
async function wholeTurn(
	conversations: Conversations,
	turn: StartedTurn,
	signal: AbortSignal,
	audience: Audience,
): Promise<object> {
	if ('messageForHuman' in turn) {
		// A human handles the conversation: the response is the user's own message, and the human's follows later.
		const message = presentFor(audience, turn.messageForHuman);
		return { ...message, user_message: message };
	}
	const reply = 'finishedReply' in turn ? turn.finishedReply : await conversations.reply(turn, signal);
	if (reply.status === 'failed') throw failureOf(presentFor(audience, reply));
	// The reply as it ended: a rating given since then belongs to the message, not to this response.
	const asEnded = { ...reply, feedback: null, feedback_comment: null };
	return { ...presentFor(audience, asEnded), user_message: presentFor(audience, turn.question) };
}

/** The error of a failed reply: of the model, or of a budget that was used up between its rounds. */
function failureOf({ error }: Pick<Message, 'error'>): AppError {
	const code = error?.code === 'usage_limit_reached' ? error.code : 'model_error';
	return new AppError(code, error?.message);
}

/** Visitors do not learn of budgets: they get the general sentence of the code. */
async function withoutBudgets<T>(sending: Promise<T>, audience: Audience): Promise<T> {
	try {
		return await sending;
	} catch (error) {
		const isHidden = audience === 'visitor' && error instanceof AppError && error.code === 'usage_limit_reached';
		throw isHidden ? new AppError('usage_limit_reached') : error;
	}
}
