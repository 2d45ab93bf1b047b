/** A request as a strict reader understands it. */
export interface ReferenceRequest {
	method: string;
	path: string;
	contentType: string;
	body: Buffer;
	isChunked: boolean;
}

/** What a strict reader of RFC 9112 finds in a connection's bytes. */
export interface ReferenceReading {
	/** Whole requests, up to the first that is malformed or not complete. */
	requests: ReferenceRequest[];
	/** Where the first line of each request begins and ends. */
	lines: Array<[from: number, to: number]>;
	/** The bytes end with the last request, and no head is so large that a server may reject it. */
	isClean: boolean;
	/** The request that is not complete or malformed has a chunked body: readers may be lax about it. */
	endsInChunkedBody: boolean;
}

/** Bytes and fields of a head that every server accepts. */
const SMALL_HEAD = 4_000;
const SMALL_FIELDS = 50;

const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) (\/[!-~]*) HTTP\/1\.1$/;
/** The HTTP library removes blanks and bytes above 127 around a value (docs/operations.md), so they are not part of it here. */
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[\t \x80-\xff]*((?:[!-~](?:[\t -~\x80-\xff]*[!-~])?)?)[\t \x80-\xff]*$/;
const HOST = /^[A-Za-z0-9\-._~%!$&'()*+;=:[\]]+$/;
const SIZE_LINE = /^([0-9A-Fa-f]{1,8})$/;

/**
 * Reads the requests of one connection as strictly as RFC 9112 allows: no bare line feeds, no folded headers, one Host, one
 * Content-Length of digits, "chunked" as the only coding, no extensions and trailers. It ends after a chunked request, as the server does.
 */
export function readStrictly(bytes: Buffer): ReferenceReading {
	const text = bytes.toString('latin1');
	const requests: ReferenceRequest[] = [];
	const lines: ReferenceReading['lines'] = [];
	let areHeadsSmall = true;
	let at = 0;
	while (at < text.length) {
		const head = readHead(text, at);
		if (head === null) return { requests, lines, isClean: false, endsInChunkedBody: false };
		areHeadsSmall &&= head.bodyAt - at < SMALL_HEAD && head.fields < SMALL_FIELDS;
		lines.push([at, text.indexOf('\r\n', at) + 2]);
		const { method, path, contentType, bodyAt } = head;
		if (head.isChunked) {
			const body = readChunks(text, bodyAt);
			if (body === null) return { requests, lines, isClean: false, endsInChunkedBody: true };
			requests.push({ method, path, contentType, body: Buffer.from(body.text, 'latin1'), isChunked: true });
			return { requests, lines, isClean: areHeadsSmall && body.end === text.length, endsInChunkedBody: false };
		}
		const end = bodyAt + head.length;
		if (end > text.length) return { requests, lines, isClean: false, endsInChunkedBody: false };
		requests.push({ method, path, contentType, body: bytes.subarray(bodyAt, end), isChunked: false });
		at = end;
	}
	return { requests, lines, isClean: areHeadsSmall, endsInChunkedBody: false };
}

interface Head {
	method: string;
	path: string;
	contentType: string;
	fields: number;
	isChunked: boolean;
	length: number;
	bodyAt: number;
}

/** A whole, well-formed head; null for another. */
function readHead(text: string, from: number): Head | null {
	const end = text.indexOf('\r\n\r\n', from);
	if (end < 0) return null;
	const [line = '', ...fields] = text.slice(from, end).split('\r\n');
	const start = REQUEST_LINE.exec(line);
	const read = fields.map((field) => FIELD.exec(field));
	if (start === null || read.some((field) => field === null)) return null;
	const valuesOf = (name: string) =>
		read.flatMap((field) => (field?.[1]?.toLowerCase() === name ? [field[2] as string] : []));
	const hosts = valuesOf('host');
	const lengths = valuesOf('content-length');
	const codings = valuesOf('transfer-encoding');
	if (hosts.length !== 1 || !HOST.test(hosts[0] as string)) return null;
	if (lengths.length + codings.length > 1) return null;
	if (codings.length === 1 && codings[0] !== 'chunked') return null;
	if (lengths.length === 1 && !/^\d{1,15}$/.test(lengths[0] as string)) return null;
	const [, method = '', target = ''] = start;
	const path = decoded(target.split('?')[0] as string);
	return {
		method,
		path,
		contentType: valuesOf('content-type').join(', '),
		fields: fields.length,
		isChunked: codings.length === 1,
		length: Number(lengths[0] ?? 0),
		bodyAt: end + 4,
	};
}

/** A path without percent encoding. Another spelling of a path is the same path. */
function decoded(path: string): string {
	try {
		return decodeURIComponent(path);
	} catch {
		return path;
	}
}

/** A whole, well-formed chunked body; null for another. */
function readChunks(text: string, from: number): { text: string; end: number } | null {
	let data = '';
	let at = from;
	for (;;) {
		const end = text.indexOf('\r\n', at);
		const size = end < 0 ? null : SIZE_LINE.exec(text.slice(at, end));
		if (!size) return null;
		const length = Number.parseInt(size[1] as string, 16);
		at = end + 2;
		if (text.slice(at + length, at + length + 2) !== '\r\n') return null;
		data += text.slice(at, at + length);
		at += length + 2;
		if (length === 0) return { text: data, end: at };
	}
}
