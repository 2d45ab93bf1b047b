import { AppError, deferred, messageOf } from '../base/index.ts';
import type { BodyBuffer } from './body-buffer.ts';
import { UNKNOWN_LENGTH } from './framing.ts';
import { GrowingBuffer } from './growing-buffer.ts';
import { exceedsJsonDepth } from './json-depth.ts';
import { hasLoneSurrogate } from './lone-surrogates.ts';

/** A request's headers that describe its body. */
export interface BodyHeaders {
	contentType: string | undefined;
	/** Bytes of the announced body; `UNKNOWN_LENGTH` for a chunked body. */
	announcedBytes: number;
}

const JSON_TYPE = /^application\/json[ \t]*(?:$|;)/i;
const OTHER_CHARSET = /;[ \t]*charset[ \t]*=[ \t]*(?!"?utf-?8"?[ \t]*(?:;|$))/i;

/**
 * Reads a whole body as JSON; undefined for an empty one.
 * @throws AppError `unsupported_content_type`, `payload_too_large`, `invalid_json`
 */
export function readJson(body: BodyBuffer, headers: BodyHeaders, maxBytes: number): Promise<unknown> {
	const { promise, resolve, reject } = deferred<unknown>();
	const rejectBody = (error: Error): void => {
		body.discard();
		reject(error);
	};
	const hasJsonType = isJsonType(headers.contentType);
	const arrived = new GrowingBuffer();
	const parse = (bytes: Uint8Array): void => {
		if (bytes.length === 0) resolve(undefined);
		else if (!hasJsonType) reject(unsupportedTypeError());
		else {
			try {
				resolve(parseJson(bytes));
			} catch (error) {
				reject(error);
			}
		}
	};
	if (!hasJsonType && headers.announcedBytes !== UNKNOWN_LENGTH) rejectBody(unsupportedTypeError());
	else if (headers.announcedBytes !== UNKNOWN_LENGTH && headers.announcedBytes > maxBytes)
		rejectBody(payloadTooLargeError(maxBytes));
	else {
		body.setSink({
			write(bytes, last) {
				if (arrived.length + bytes.length > maxBytes) rejectBody(payloadTooLargeError(maxBytes));
				// Most bodies arrive in one piece, which needs no copy.
				else if (last && arrived.length === 0) parse(bytes);
				else {
					arrived.append(bytes);
					if (last) parse(arrived.bytes());
				}
			},
			abort: reject,
		});
	}
	return promise;
}

/** Deeper than real data, and far less than the stack that a recursive reader of it has. */
const MAX_DEPTH = 200;

/** Uses a new decoder for each text: a fatal decoder that has thrown must not pass state to the next text. */
function parseJson(bytes: Uint8Array): unknown {
	let text: string;
	try {
		text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch (cause) {
		throw new AppError('invalid_json', 'The request body is not valid UTF-8.', { cause });
	}
	if (exceedsJsonDepth(text, MAX_DEPTH)) {
		throw new AppError('invalid_json', `The request body is nested deeper than ${MAX_DEPTH} levels.`);
	}
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch (cause) {
		throw new AppError('invalid_json', `The request body is not valid JSON: ${messageOf(cause)}.`, { cause });
	}
	if (hasLoneSurrogate(text)) {
		throw new AppError('invalid_json', 'A string in the request body contains half of a surrogate pair.');
	}
	return value;
}

function isJsonType(contentType: string | undefined): boolean {
	return contentType !== undefined && JSON_TYPE.test(contentType) && !OTHER_CHARSET.test(contentType);
}

function unsupportedTypeError(): AppError {
	return new AppError('unsupported_content_type', 'Send the body as JSON with Content-Type: application/json.');
}

export function payloadTooLargeError(maxBytes: number): AppError {
	return new AppError('payload_too_large', `The request body is larger than ${maxBytes} bytes.`);
}
