/** One server-sent event. */
export interface ServerSentEvent {
	/** The stream position after the event; empty if the server sent none. */
	id: string;
	event: string;
	data: string;
}

/** Bound of an unfinished event, in characters: far more than the longest message. */
const MAX_EVENT_CHARS = 4_000_000;

/**
 * Reads server-sent events (WHATWG HTML, section 9.2.6) as they arrive.
 * @param silenceMs longest time without a byte; the server sends a comment every 15 s
 * @throws Error if the connection breaks or is silent for longer
 */
export async function* readEvents(
	body: ReadableStream<Uint8Array>,
	silenceMs: number,
): AsyncGenerator<ServerSentEvent, void, undefined> {
	const reader = body.getReader();
	const decoder = new TextDecoder();
	let text = '';
	try {
		for (;;) {
			const { done, value } = await withTimeout(reader.read(), silenceMs);
			if (done) return;
			text += decoder.decode(value, { stream: true });
			if (text.length > MAX_EVENT_CHARS) throw new Error('too long');
			let end = text.search(EVENT_END);
			while (end >= 0) {
				const event = parseEvent(text.slice(0, end));
				text = text.slice(end).replace(EVENT_END, '');
				if (event) yield event;
				end = text.search(EVENT_END);
			}
		}
	} finally {
		reader.cancel().catch(() => {});
	}
}

const EVENT_END = /\r\n\r\n|\n\n|\r\r/;

function parseEvent(block: string): ServerSentEvent | null {
	const event: ServerSentEvent = { id: '', event: 'message', data: '' };
	let hasData = false;
	for (const line of block.split(/\r\n|\n|\r/)) {
		const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
		if (field === 'id' || field === 'event') event[field] = value;
		if (field === 'data') {
			event.data += hasData ? `\n${value}` : value;
			hasData = true;
		}
	}
	return hasData ? event : null;
}

/** Rejects if the promise does not settle in time. */
function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T> {
	return new Promise((resolve, reject) => {
		const timer = setTimeout(() => reject(new Error('silent')), ms);
		promise.then(resolve, reject).finally(() => clearTimeout(timer));
	});
}
