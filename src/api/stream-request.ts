import type { HttpRequest } from '../http/index.ts';
import { parsePosition, type StreamPosition } from '../outbox/index.ts';

/** Whether the client wants the reply as an event stream: the body's `stream` decides, else the Accept header. */
export function wantsStream(request: HttpRequest, stream: boolean | undefined): boolean {
	return stream ?? request.header('accept')?.includes('text/event-stream') === true;
}

/** The position after which a stream resumes: from the header that browsers send by themselves, else from the query. */
export function resumePosition(request: HttpRequest, query: string | undefined): StreamPosition | null {
	const text = request.header('last-event-id') ?? query;
	return text === undefined || text === '' ? null : parsePosition(text);
}
