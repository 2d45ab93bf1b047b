import { AppError } from '../base/index.ts';

/**
 * A position in a stream: after this event, and within the text that is open there, after this many UTF-16 code units.
 * Written `<event number>.<offset>`; SSE clients send it as Last-Event-ID, and treat it as opaque.
 */
export interface StreamPosition {
	seq: number;
	offset: number;
}

export function formatPosition({ seq, offset }: StreamPosition): string {
	return `${seq}.${offset}`;
}

/** @throws AppError `invalid_request` for text of another form */
export function parsePosition(text: string): StreamPosition {
	const match = /^(\d{1,15})\.(\d{1,15})$/.exec(text);
	if (!match) throw new AppError('invalid_request', 'Last-Event-ID was not issued by this server.');
	return { seq: Number(match[1]), offset: Number(match[2]) };
}
