/** One server-sent event. */
export interface ServerSentEvent {
	id?: string | undefined;
	event: string;
	/** A line break becomes a further `data` line. */
	data: string;
}

/** One event as sent (WHATWG HTML, section 9.2.6). */
export function encodeServerSentEvent(event: ServerSentEvent): string {
	const id = event.id === undefined ? undefined : withoutLineBreaks(event.id);
	const data = /[\r\n]/.test(event.data) ? event.data.split(/\r\n|\r|\n/).join('\ndata: ') : event.data;
	return encodeSingleLines({ id, event: withoutLineBreaks(event.event), data });
}

/** As `encodeServerSentEvent`, for an event that has no line breaks, such as one line of JSON. */
export function encodeSingleLines({ id, event, data }: ServerSentEvent): string {
	return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

function withoutLineBreaks(text: string): string {
	return /[\r\n\0]/.test(text) ? text.replace(/[\r\n\0]+/g, ' ') : text;
}
