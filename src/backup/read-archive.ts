import { createHash } from 'node:crypto';
import { constants, type FileHandle, open } from 'node:fs/promises';
import { AppError, messageOf } from '../base/index.ts';
import {
	BLOCK_BYTES,
	CHECKSUMS,
	DATABASE,
	END_BYTES,
	hashOfBlobPath,
	MANIFEST,
	paddingOf,
	renderChecksums,
	renderHeader,
} from './archive-entries.ts';
import { DamagedArchiveError } from './archive-errors.ts';
import { MAX_MANIFEST_BYTES, type Manifest, parseManifest } from './manifest.ts';

/** What a reader does with the parts of an archive. It must read each content to its end. */
export interface ArchiveReader {
	/** Before the contents. */
	manifest?(manifest: Manifest): void;
	database(content: AsyncIterable<Buffer>): Promise<void>;
	/** Blobs come in ascending order of their hashes. */
	blob(hash: string, content: AsyncIterable<Buffer>): Promise<void>;
}

const CHUNK_BYTES = 256 * 1024;

/**
 * Reads an archive from its beginning to its end, and checks every byte. The reader gets a content before its checksum is compared, so it must
 * not publish anything before this returns.
 * @throws DamagedArchiveError; AppError `not_found` when there is no file; the reader's errors; the signal's reason
 */
export async function readArchive(file: string, reader: ArchiveReader, signal: AbortSignal): Promise<Manifest> {
	const handle = await openArchive(file);
	try {
		return await new ArchiveFile(handle, file, signal).readParts(reader);
	} finally {
		await handle.close();
	}
}

async function openArchive(file: string): Promise<FileHandle> {
	try {
		// Opening a named pipe would wait for somebody who writes to it.
		const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
		if ((await handle.stat()).isFile()) return handle;
		await handle.close();
	} catch (cause) {
		throw new AppError('not_found', `${file} cannot be read: ${messageOf(cause)}.`, { cause });
	}
	throw new DamagedArchiveError(file, 'it is not a file');
}

class ArchiveFile {
	readonly #handle: FileHandle;
	readonly #file: string;
	readonly #signal: AbortSignal;

	constructor(handle: FileHandle, file: string, signal: AbortSignal) {
		this.#handle = handle;
		this.#file = file;
		this.#signal = signal;
	}

	async readParts(reader: ArchiveReader): Promise<Manifest> {
		const manifest = await this.#readManifest();
		reader.manifest?.(manifest);
		const { database, blobs } = manifest;
		const header = await this.#readHeader();
		if (header.name !== DATABASE || header.size !== database.bytes)
			throw this.#damaged('the database is not in its place');
		await reader.database(this.#readContent(header.size, database.sha256, 'the database'));
		await this.#readBlobs(blobs, reader);
		await this.#readZeros(END_BYTES);
		if ((await this.#readUpTo(1)).length > 0) throw this.#damaged('there is data after its end');
		return manifest;
	}

	/** The manifest, compared with its checksum. */
	async #readManifest(): Promise<Manifest> {
		const header = await this.#readHeader();
		if (header.name !== MANIFEST || header.size > MAX_MANIFEST_BYTES)
			throw this.#damaged('it does not begin with a manifest');
		const bytes = await this.#readBytes(header.size);
		await this.#readZeros(paddingOf(header.size));
		const manifest = parseManifest(bytes, this.#file);
		const manifestSha256 = createHash('sha256').update(bytes).digest('hex');
		const expected = renderChecksums(manifestSha256, manifest.database.sha256);
		const checksums = await this.#readHeader();
		const isExpected = checksums.name === CHECKSUMS && checksums.size === expected.length;
		if (!isExpected || !(await this.#readBytes(expected.length)).equals(expected)) {
			throw this.#damaged('the checksum of the manifest is wrong');
		}
		await this.#readZeros(paddingOf(expected.length));
		return manifest;
	}

	async #readBlobs({ count, bytes }: Manifest['blobs'], reader: ArchiveReader): Promise<void> {
		let remaining = bytes;
		let former = '';
		for (let read = 0; read < count; read++) {
			const { name, size } = await this.#readHeader();
			const hash = hashOfBlobPath(name);
			remaining -= size;
			if (hash === null || hash <= former || remaining < 0) throw this.#damaged('a file in it is not in its place');
			former = hash;
			await reader.blob(hash, this.#readContent(size, hash, name));
		}
		if (remaining > 0) throw this.#damaged('it has fewer bytes of files than its manifest says');
	}

	/** A header, which must have the bytes that the writer gives to its name and size. */
	async #readHeader(): Promise<{ name: string; size: number }> {
		this.#signal.throwIfAborted();
		const block = await this.#readBytes(BLOCK_BYTES);
		const name = block.toString('latin1', 0, block.indexOf(0));
		const size = sizeIn(block);
		if (size === null || !block.equals(await renderHeader(name, size)))
			throw this.#damaged('a header in it is wrong; a compressed file must be decompressed first');
		return { name, size };
	}

	/** A content and its padding. @throws DamagedArchiveError at its end when the checksum is wrong */
	async *#readContent(size: number, sha256: string, what: string): AsyncGenerator<Buffer> {
		const hash = createHash('sha256');
		for (let remaining = size; remaining > 0; ) {
			this.#signal.throwIfAborted();
			const chunk = await this.#readBytes(Math.min(remaining, CHUNK_BYTES));
			hash.update(chunk);
			remaining -= chunk.length;
			yield chunk;
		}
		await this.#readZeros(paddingOf(size));
		if (hash.digest('hex') !== sha256) throw this.#damaged(`the checksum of ${what} is wrong`);
	}

	async #readZeros(size: number): Promise<void> {
		if ((await this.#readBytes(size)).some((byte) => byte !== 0)) throw this.#damaged('its padding is not empty');
	}

	async #readBytes(size: number): Promise<Buffer> {
		const bytes = await this.#readUpTo(size);
		if (bytes.length < size) throw this.#damaged('it ends too early');
		return bytes;
	}

	/** The next bytes; fewer at the end of the file. */
	async #readUpTo(size: number): Promise<Buffer> {
		const buffer = Buffer.alloc(size);
		let filled = 0;
		while (filled < size) {
			const { bytesRead } = await this.#handle.read(buffer, filled, size - filled);
			if (bytesRead === 0) break;
			filled += bytesRead;
		}
		return buffer.subarray(0, filled);
	}

	#damaged(reason: string): DamagedArchiveError {
		return new DamagedArchiveError(this.#file, reason);
	}
}

/** The size in a header: octal, or from 8 GiB on binary with the first bit set (an extension of GNU tar); null for neither. */
function sizeIn(block: Buffer): number | null {
	const field = block.subarray(124, 136);
	if (field[0] === 0x80) {
		const size = Number(field.readBigUInt64BE(4));
		return Number.isSafeInteger(size) ? size : null;
	}
	const digits = /^[0-7]{11}(?= |$)/.exec(field.toString('latin1'))?.[0];
	return digits === undefined ? null : Number.parseInt(digits, 8);
}
