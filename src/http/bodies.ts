import { AppError, deferred, messageOf } from '../base/index.ts';
import type { BodyInlet } from './body-inlet.ts';
import { UNKNOWN_LENGTH } from './framing.ts';
import { nestsDeeper } from './json-depth.ts';
import { hasLoneSurrogate } from './lone-surrogates.ts';

/** What a request says of its body. */
export interface BodyFacts {
	contentType: string | undefined;
	/** Bytes announced; `UNKNOWN_LENGTH` where the body is chunked. */
	announced: number;
}

const JSON_TYPE = /^application\/json[ \t]*(?:$|;)/i;
const FOREIGN_CHARSET = /;[ \t]*charset[ \t]*=[ \t]*(?!"?utf-?8"?[ \t]*(?:;|$))/i;

/**
 * Reads a whole body as JSON; undefined where it is empty.
 * @throws AppError `unsupported_content_type`, `payload_too_large`, `invalid_json`
 */
export function readJson(inlet: BodyInlet, facts: BodyFacts, maxBytes: number): Promise<unknown> {
	const { promise, resolve, reject } = deferred<unknown>();
	const refuse = (error: Error): void => {
		inlet.discard();
		reject(error);
	};
	const typed = isJson(facts.contentType);
	const pieces: Buffer[] = [];
	let size = 0;
	const finish = (end: Uint8Array): void => {
		if (size === 0) resolve(undefined);
		else if (!typed) reject(wrongType());
		else {
			try {
				resolve(parseJson(pieces.length === 0 ? end : Buffer.concat([...pieces, end], size)));
			} catch (error) {
				reject(error);
			}
		}
	};
	if (!typed && facts.announced !== UNKNOWN_LENGTH) refuse(wrongType());
	else if (facts.announced !== UNKNOWN_LENGTH && facts.announced > maxBytes) refuse(tooLarge(maxBytes));
	else {
		inlet.read({
			take(bytes, last) {
				size += bytes.length;
				if (size > maxBytes) refuse(tooLarge(maxBytes));
				else if (last) finish(bytes);
				else if (bytes.length > 0) pieces.push(Buffer.from(bytes));
			},
			fail: reject,
		});
	}
	return promise;
}

/** More than anybody's data has, and far less than the stack of whatever goes into it. */
const MAX_DEPTH = 200;

/** A decoder of its own for each text: a fatal one that has thrown must not carry anything over. */
function parseJson(bytes: Uint8Array): unknown {
	let text: string;
	try {
		text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch (cause) {
		throw new AppError('invalid_json', 'The request body is not valid UTF-8.', { cause });
	}
	if (nestsDeeper(text, MAX_DEPTH)) {
		throw new AppError('invalid_json', `The request body is nested deeper than ${MAX_DEPTH} levels.`);
	}
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch (cause) {
		throw new AppError('invalid_json', `The request body is not valid JSON: ${messageOf(cause)}.`, { cause });
	}
	if (hasLoneSurrogate(text)) {
		throw new AppError('invalid_json', 'A string in the request body holds half of a surrogate pair.');
	}
	return value;
}

function isJson(contentType: string | undefined): boolean {
	return contentType !== undefined && JSON_TYPE.test(contentType) && !FOREIGN_CHARSET.test(contentType);
}

function wrongType(): AppError {
	return new AppError('unsupported_content_type', 'Send the body as JSON with Content-Type: application/json.');
}

function tooLarge(maxBytes: number): AppError {
	return new AppError('payload_too_large', `The request body is larger than ${maxBytes} bytes.`);
}
