import { inflateRawSync } from 'node:zlib';
import { AppError, messageOf } from '../base/index.ts';
import { resourceLimit } from './limits.ts';
import { type ArchiveEntry, archiveEntries } from './zip-directory.ts';

/** No part of a document with 10 MB of text needs more, and all parts together must fit into a worker's memory. */
const MAX_PART_BYTES = 160 * 1024 * 1024;
const MAX_TOTAL_BYTES = 200 * 1024 * 1024;

/** XML of real documents compresses by a factor of at most fifty; a bomb by a thousand. */
const MAX_RATIO = 400;
const RATIO_EXEMPT_BYTES = 4 * 1024 * 1024;
/** A document with a thousand pictures has a thousand. */
const MAX_ENTRIES = 20_000;

const STORED = 0;
const DEFLATED = 8;

/**
 * The parts of a document that is a ZIP archive, by their names in lower case. A part is inflated when it is read, so pictures, embedded
 * files and what is not needed stay compressed. Sizes are checked before, and no part gets more memory than the archive declares.
 */
export class Parts {
	readonly #kind: string;
	readonly #entries = new Map<string, ArchiveEntry>();
	readonly #inflated = new Map<string, Uint8Array>();
	#total = 0;

	/**
	 * @param kind what the file is, for the sentences of errors
	 * @throws AppError `unreadable_file` for a broken archive, `resource_limit` for one of too many files
	 */
	constructor(bytes: Uint8Array, kind: string) {
		this.#kind = kind;
		try {
			for (const entry of archiveEntries(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))) {
				this.#entries.set(entry.name.replace(/\\/g, '/').toLowerCase(), entry);
				if (this.#entries.size > MAX_ENTRIES) {
					throw resourceLimit(`The ${kind} holds more than ${MAX_ENTRIES.toLocaleString('en')} files.`);
				}
			}
		} catch (error) {
			throw error instanceof AppError ? error : this.#damaged(error);
		}
	}

	get names(): Iterable<string> {
		return this.#entries.keys();
	}

	has(name: string): boolean {
		return this.#entries.has(name);
	}

	/**
	 * A part; undefined if there is none of this name.
	 * @throws AppError `unreadable_file`, or `resource_limit` if it inflates beyond the limits
	 */
	get(name: string): Uint8Array | undefined {
		const entry = this.#entries.get(name);
		if (entry === undefined) return undefined;
		let part = this.#inflated.get(name);
		if (part === undefined) {
			part = this.#inflate(entry);
			this.#inflated.set(name, part);
		}
		return part;
	}

	#inflate({ data, size, method, isEncrypted }: ArchiveEntry): Uint8Array {
		if (isEncrypted) {
			throw new AppError(
				'unreadable_file',
				`The ${this.#kind} is protected with a password. Remove the password and upload it again.`,
			);
		}
		this.#total += size;
		const isBomb = size > RATIO_EXEMPT_BYTES && size > data.length * MAX_RATIO;
		if (isBomb || size > MAX_PART_BYTES || this.#total > MAX_TOTAL_BYTES) throw this.#tooLarge();
		try {
			if (method === STORED) {
				if (data.length !== size) throw new Error(`It declares ${size} bytes and has ${data.length}.`);
				return data;
			}
			if (method !== DEFLATED) throw new Error(`It is compressed by method ${method}.`);
			return inflateRawSync(data, { maxOutputLength: Math.max(1, size) });
		} catch (error) {
			// It inflates to more than the archive declares.
			if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw this.#tooLarge();
			throw this.#damaged(error);
		}
	}

	#damaged(cause: unknown): AppError {
		return new AppError('unreadable_file', `The ${this.#kind} is damaged: its archive cannot be opened.`, {
			cause: messageOf(cause),
		});
	}

	#tooLarge(): AppError {
		return resourceLimit(`The ${this.#kind} unpacks to far more data than a document holds.`);
	}
}

/** The path of an entry that is named relative to a folder, without `..`. */
export function resolveEntryPath(folder: string, target: string): string {
	const path: string[] = [];
	for (const name of `${folder}${target}`.split('/')) {
		if (name === '..') path.pop();
		else if (name !== '.' && name !== '') path.push(name);
	}
	return path.join('/');
}
