import { AppError } from '../base/index.ts';

/**
 * A place in a stream: after this event, and within the text that is open there, after this many UTF-16 code units.
 * Written `<event number>.<offset>`; it is what SSE clients send back as Last-Event-ID, opaque to them.
 */
export interface StreamPosition {
	seq: number;
	offset: number;
}

export function formatPosition({ seq, offset }: StreamPosition): string {
	return `${seq}.${offset}`;
}

/** @throws AppError `invalid_request` for text that we did not write */
export function parsePosition(text: string): StreamPosition {
	const match = /^(\d{1,15})\.(\d{1,15})$/.exec(text);
	if (!match) throw new AppError('invalid_request', 'Last-Event-ID is not one that this server gave out.');
	return { seq: Number(match[1]), offset: Number(match[2]) };
}
