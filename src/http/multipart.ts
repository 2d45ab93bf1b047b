import type { Readable } from 'node:stream';
import { Busboy, type BusboyConfig, type BusboyInstance } from '@fastify/busboy';
import { AppError, messageOf } from '../base/index.ts';
import type { BodyBuffer } from './body-buffer.ts';
import { UNKNOWN_LENGTH } from './framing.ts';
import { singleChunks } from './single-chunks.ts';
import type { FilePart, MultipartFields, MultipartOptions } from './types.ts';
import { UploadCopies } from './upload-copies.ts';

const FORM_DATA = /^multipart\/form-data[ \t]*;/i;
/** Limits of a form besides its bytes, far above what any operation accepts. */
const MAX_FILES = 32;
const MAX_FIELDS = 128;
const MAX_FILE_NAME = 255;
const MAX_CONTENT_TYPE = 255;
/** A media type, with any parameters that have no control characters. */
const CONTENT_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+[ \t]*(?:;[^\p{Cc}]*)?$/u;
/**
 * The parser waits for ever if an unread part fills its buffer and ends within one write. So each write is smaller than the
 * buffer and waits for the one before.
 */
const PARSER_BUFFER_BYTES = 64 * 1024;
const WRITE_BYTES = 32 * 1024;

/** Reads one multipart body through the parser. The first failure ends it and is its outcome. */
class MultipartReader {
	readonly #body: BodyBuffer;
	readonly #options: MultipartOptions;
	readonly #parser: BusboyInstance;
	readonly #fields: MultipartFields = [];
	readonly #openStreams = new Set<Readable>();
	readonly #copies = new UploadCopies();
	/** The files' handlers, called one after the other. */
	#fileHandlers: Promise<void> = Promise.resolve();
	#writes: Promise<void> = Promise.resolve();
	/** Pieces of the body that the parser has not taken as a whole yet. */
	#waitingPieces = 0;
	#isFinished = false;
	#resolve!: (fields: MultipartFields) => void;
	#reject!: (error: unknown) => void;
	readonly outcome = new Promise<MultipartFields>((resolve, reject) => {
		this.#resolve = resolve;
		this.#reject = reject;
	});

	constructor(body: BodyBuffer, contentType: string, options: MultipartOptions) {
		this.#body = body;
		this.#options = options;
		this.#parser = createParser(contentType, options);
		this.#parser.on('file', (name, stream, fileName, _encoding, type) => this.#onFile(name, stream, fileName, type));
		this.#parser.on('field', (name, value, nameCut, valueCut) => this.#onField(name, value, nameCut || valueCut));
		for (const limit of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const) {
			this.#parser.on(limit, () => this.#fail(new AppError('payload_too_large', 'The form has too many parts.')));
		}
		this.#parser.on('error', (error) => this.#fail(malformedBodyError(error)));
		this.#parser.on('finish', () => {
			this.#fileHandlers.then(
				() => this.#succeed(),
				(error) => this.#fail(error),
			);
		});
	}

	/** Starts reading the body. */
	read(): void {
		this.#body.setSink({
			write: (bytes, last) => {
				if (!last) this.#body.pause();
				// The bytes are valid only during the call, and the parser may keep them longer.
				const copy = this.#copies.copy(bytes);
				this.#waitingPieces++;
				this.#writes = this.#writes.then(() => this.#write(copy, last));
			},
			abort: (error) => this.#fail(error),
		});
	}

	async #write(bytes: Buffer, last: boolean): Promise<void> {
		try {
			for (let at = 0; at < bytes.length && !this.#isFinished; at += WRITE_BYTES)
				await this.#writeToParser(bytes.subarray(at, at + WRITE_BYTES));
			this.#waitingPieces--;
			if (this.#isFinished) return;
			if (last) this.#parser.end();
			// The HTTP library also delivers what it had read before the pause. If each of these pieces resumed reading, the whole body could
			// be in memory.
			else if (this.#waitingPieces === 0) this.#body.resume();
		} catch (error) {
			this.#fail(malformedBodyError(error));
		}
	}

	/** Resolves when the parser takes more: after the reader of an open file has drained its buffer. */
	#writeToParser(chunk: Buffer): Promise<void> {
		return new Promise((resolve, reject) => {
			this.#parser.write(chunk, (error) => (error ? reject(error) : resolve()));
		});
	}

	#onFile(name: string | undefined, stream: Readable, fileName: string | undefined, contentType: string): void {
		// The parser reports a body that ends too early on the part's stream as well, also before it has a listener.
		stream.on('error', () => {});
		if (name === undefined) this.#fail(new AppError('invalid_request', 'A part of the form has no name.'));
		if (this.#isFinished || name === undefined) {
			stream.resume();
			return;
		}
		this.#openStreams.add(stream);
		stream.once('close', () => this.#openStreams.delete(stream));
		stream.once('limit', () => {
			this.#fail(fileTooLargeError(this.#options.maxFileBytes));
		});
		const part: FilePart = {
			name,
			fileName: cleanFileName(fileName),
			contentType: knownContentType(contentType),
			pieces: this.#piecesOf(stream),
		};
		this.#fileHandlers = this.#fileHandlers.then(async () => {
			if (this.#isFinished) return;
			await this.#options.onFile(part);
			// Bytes that the handler left unread must not block the following parts.
			stream.resume();
		});
		this.#fileHandlers.catch((error) => this.#fail(error));
	}

	async *#piecesOf(stream: Readable): AsyncGenerator<Uint8Array> {
		for await (const piece of singleChunks(stream)) {
			yield piece;
			// The reader has asked for the next piece, so it has finished with this one.
			this.#copies.consume(piece.length);
		}
	}

	#onField(name: string | undefined, value: string, isTruncated: boolean): void {
		if (this.#isFinished) return;
		if (name === undefined) this.#fail(new AppError('invalid_request', 'A part of the form has no name.'));
		else if (isTruncated) this.#fail(new AppError('payload_too_large', `The form's field "${name}" is too long.`));
		else this.#fields.push({ name, value });
	}

	#succeed(): void {
		if (this.#isFinished) return;
		this.#isFinished = true;
		this.#copies.forget();
		this.#resolve(this.#fields);
	}

	#fail(error: unknown): void {
		if (this.#isFinished) return;
		this.#isFinished = true;
		this.#copies.forget();
		const reason = error instanceof Error ? error : new Error(String(error));
		for (const stream of this.#openStreams) stream.destroy(reason);
		this.#body.discard();
		// A handler may still be reading its file, whose stream is now destroyed. Its outcome does not matter, but the failure
		// is reported only after the handler has settled.
		this.#fileHandlers.then(
			() => this.#reject(error),
			() => this.#reject(error),
		);
	}
}

/**
 * Streams a multipart body (RFC 7578) through its handlers.
 * @throws AppError `unsupported_content_type`, `invalid_request`, `payload_too_large`
 */
export async function readMultipart(
	body: BodyBuffer,
	{ contentType, announcedBytes }: { contentType: string | undefined; announcedBytes: number },
	options: MultipartOptions,
): Promise<MultipartFields> {
	let form: MultipartReader;
	try {
		if (contentType === undefined || !FORM_DATA.test(contentType)) {
			throw new AppError('unsupported_content_type', 'Send files as multipart/form-data.');
		}
		const { maxBodyBytes = Number.POSITIVE_INFINITY, maxFileBytes } = options;
		if (announcedBytes !== UNKNOWN_LENGTH && announcedBytes > maxBodyBytes) throw fileTooLargeError(maxFileBytes);
		form = new MultipartReader(body, contentType, options);
	} catch (error) {
		body.discard();
		throw error;
	}
	form.read();
	return form.outcome;
}

function createParser(contentType: string, options: MultipartOptions): BusboyInstance {
	const config: BusboyConfig = {
		headers: { 'content-type': contentType },
		fileHwm: PARSER_BUFFER_BYTES,
		// A part with a file name is a file: browsers send one for every file input.
		isPartAFile: (_name, _type, fileName) => fileName !== undefined,
		limits: {
			fileSize: options.maxFileBytes,
			fieldSize: options.maxFieldBytes,
			files: MAX_FILES,
			fields: MAX_FIELDS,
			headerPairs: 32,
			headerSize: 8 * 1024,
		},
	};
	try {
		return new Busboy(config);
	} catch (error) {
		throw malformedBodyError(error);
	}
}

function fileTooLargeError(maxFileBytes: number): AppError {
	return new AppError('payload_too_large', `The file is larger than ${maxFileBytes} bytes.`);
}

function malformedBodyError(error: unknown): AppError {
	if (error instanceof AppError) return error;
	const message = `The multipart body is malformed: ${messageOf(error)}.`;
	return new AppError('invalid_request', message, { cause: error });
}

/** The part's Content-Type; a part without a valid one is bytes (RFC 7578, section 4.4; RFC 9110, section 8.3). */
function knownContentType(contentType: string): string {
	return contentType.length <= MAX_CONTENT_TYPE && CONTENT_TYPE.test(contentType)
		? contentType
		: 'application/octet-stream';
}

/** Removes control characters and names that no file system accepts. The parser has removed folders. */
function cleanFileName(fileName: string | undefined): string | null {
	if (fileName === undefined) return null;
	// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
	const clean = fileName.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '').trim();
	return clean === '' || clean === '.' || clean === '..' ? null : [...clean].slice(0, MAX_FILE_NAME).join('');
}
