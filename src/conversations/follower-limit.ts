import { AppError } from '../base/index.ts';

/** Followers of one conversation, those that wait for a reply in it included, at which no more event streams are opened. */
const MAX_FOLLOWERS = 1_000;
/**
 * Beyond that, for repeats of a message: a sender that reconnects gets its reply although the conversation is full of event
 * streams. The first request of a message is never refused here; the messages that may wait in a conversation bound these.
 */
const RESERVED_FOR_REPEATS = 100;
/** The server does not know when a follower will leave. */
const RETRY_SECONDS = 10;

/** @throws AppError `rate_limit_exceeded` where no event stream may be opened beside so many followers */
export function requireStreamCapacity(followers: number): void {
	if (followers >= MAX_FOLLOWERS) throw tooMany(MAX_FOLLOWERS);
}

/** @throws AppError `rate_limit_exceeded` where no repeat of a message may join its reply beside so many followers */
export function requireRepeatCapacity(followers: number): void {
	if (followers >= MAX_FOLLOWERS + RESERVED_FOR_REPEATS) throw tooMany(MAX_FOLLOWERS + RESERVED_FOR_REPEATS);
}

function tooMany(limit: number): AppError {
	const sentence = `At most ${limit} clients may follow a conversation at once. Try again in ${RETRY_SECONDS} seconds.`;
	return new AppError('rate_limit_exceeded', sentence, { retry_after: RETRY_SECONDS });
}
