/** One server-sent event. */
export interface StreamEvent {
	/** The position after it; empty where the server named none. */
	id: string;
	event: string;
	data: string;
}

/** Characters that may wait for the end of their event: far more than the longest message. */
const LONGEST = 4_000_000;

/**
 * Reads server-sent events (WHATWG HTML, section 9.2.6) as they come.
 * @param silenceMs how long nothing at all may come; the server says something every 15 s
 * @throws Error where the connection breaks, or is silent for longer
 */
export async function* readEvents(
	body: ReadableStream<Uint8Array>,
	silenceMs: number,
): AsyncGenerator<StreamEvent, void, undefined> {
	const reader = body.getReader();
	const decoder = new TextDecoder();
	let text = '';
	try {
		for (;;) {
			const { done, value } = await soon(reader.read(), silenceMs);
			if (done) return;
			text += decoder.decode(value, { stream: true });
			if (text.length > LONGEST) throw new Error('too long');
			let end = text.search(BLANK);
			while (end >= 0) {
				const event = parseEvent(text.slice(0, end));
				text = text.slice(end).replace(BLANK, '');
				if (event) yield event;
				end = text.search(BLANK);
			}
		}
	} finally {
		reader.cancel().catch(() => {});
	}
}

const BLANK = /\r\n\r\n|\n\n|\r\r/;

function parseEvent(block: string): StreamEvent | null {
	const event: StreamEvent = { id: '', event: 'message', data: '' };
	let any = false;
	for (const line of block.split(/\r\n|\n|\r/)) {
		const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
		if (field === 'id' || field === 'event') event[field] = value;
		if (field === 'data') {
			event.data += any ? `\n${value}` : value;
			any = true;
		}
	}
	return any ? event : null;
}

/** What a promise gives, if it gives it in time. */
function soon<T>(promise: Promise<T>, ms: number): Promise<T> {
	return new Promise((resolve, reject) => {
		const timer = setTimeout(() => reject(new Error('silent')), ms);
		promise.then(resolve, reject).finally(() => clearTimeout(timer));
	});
}
