import { AppError } from '../base/index.ts';

/** The number of followers of one conversation, including requests that wait for a reply, at which no more streams are opened. */
const MAX_FOLLOWERS = 1_000;
/**
 * Additional followers for repeats of a message: a sender that reconnects gets its reply although the limit is reached.
 * The first request of a message is never rejected here; the mailbox limit bounds those.
 */
const RESERVED_FOR_REPEATS = 100;
/** The server does not know when a follower will leave. */
const RETRY_SECONDS = 10;

/** @throws AppError `rate_limit_exceeded` where the conversation has too many followers for another event stream */
export function requireStreamCapacity(followers: number): void {
	if (followers >= MAX_FOLLOWERS) throw tooMany(MAX_FOLLOWERS);
}

/** @throws AppError `rate_limit_exceeded` where the conversation has too many followers for a repeat to join */
export function requireRepeatCapacity(followers: number): void {
	if (followers >= MAX_FOLLOWERS + RESERVED_FOR_REPEATS) throw tooMany(MAX_FOLLOWERS + RESERVED_FOR_REPEATS);
}

function tooMany(limit: number): AppError {
	const sentence = `At most ${limit} clients may follow a conversation at once. Try again in ${RETRY_SECONDS} seconds.`;
	return new AppError('rate_limit_exceeded', sentence, { retry_after: RETRY_SECONDS });
}
