/** One server-sent event. */
export interface ServerSentEvent {
	id?: string;
	event: string;
	/** A line break becomes a further `data` line. */
	data: string;
}

/** One event as sent (WHATWG HTML, section 9.2.6). */
export function encodeEvent(event: ServerSentEvent): string {
	const id = event.id === undefined ? '' : `id: ${oneLine(event.id)}\n`;
	const data = /[\r\n]/.test(event.data) ? event.data.split(/\r\n|\r|\n/).join('\ndata: ') : event.data;
	return `${id}event: ${oneLine(event.event)}\ndata: ${data}\n\n`;
}

function oneLine(text: string): string {
	return /[\r\n\0]/.test(text) ? text.replace(/[\r\n\0]+/g, ' ') : text;
}
