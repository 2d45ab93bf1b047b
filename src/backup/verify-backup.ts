import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DatabaseSnapshot, requireKnownSchema, type SnapshotBlob } from '../store/index.ts';
import { DATABASE } from './archive-entries.ts';
import { DamagedArchiveError, isDatabaseDamage, writeError } from './archive-errors.ts';
import type { Manifest } from './manifest.ts';
import { readArchive } from './read-archive.ts';
import { VerifyFolder } from './verify-folder.ts';

/**
 * Checks every byte of an archive against its checksums. It needs no space on a disk.
 * @throws DamagedArchiveError; AppError with a sentence; the signal's reason
 */
export function checkArchive(file: string, signal: AbortSignal): Promise<Manifest> {
	const reader = { database: drain, blob: (_hash: string, content: AsyncIterable<Buffer>) => drain(content) };
	return readArchive(file, reader, signal);
}

/**
 * Checks every byte of an archive, SQLite's own checks of the database in it, and that it has exactly the blobs that the database names. The
 * database is unpacked into the folder for temporary files meanwhile.
 * @throws DamagedArchiveError; AppError with a sentence; the signal's reason
 */
export async function verifyBackup(file: string, signal: AbortSignal): Promise<Manifest> {
	await using folder = await VerifyFolder.make();
	try {
		using check = new ContentCheck(file, join(folder.path, DATABASE));
		const manifest = await readArchive(
			file,
			{
				manifest: ({ schema_version }) => requireKnownSchema(schema_version, `The database in ${file}`),
				database: (content) => check.unpackDatabase(content),
				async blob(hash, content) {
					check.requireNext(hash);
					await drain(content);
				},
			},
			signal,
		);
		check.requireEnd(manifest);
		return manifest;
	} catch (error) {
		throw writeError(error, folder.path);
	}
}

/** Unpacks the database of an archive, and compares it with the manifest and with the blobs that follow. */
export class ContentCheck implements Disposable {
	readonly #archive: string;
	readonly #databaseFile: string;
	#snapshot: DatabaseSnapshot | undefined;
	#expected: IterableIterator<SnapshotBlob> | undefined;

	constructor(archive: string, databaseFile: string) {
		this.#archive = archive;
		this.#databaseFile = databaseFile;
	}

	async unpackDatabase(content: AsyncIterable<Buffer>): Promise<void> {
		await pipeline(
			Readable.from(content),
			createWriteStream(this.#databaseFile, { flags: 'wx', mode: 0o600, flush: true }),
		);
		this.#snapshot = this.#openSound();
	}

	#openSound(): DatabaseSnapshot {
		let snapshot: DatabaseSnapshot | undefined;
		try {
			snapshot = new DatabaseSnapshot(this.#databaseFile);
			const [problem] = snapshot.problems();
			if (problem !== undefined) throw this.#damaged(problem);
			this.#expected = snapshot.blobs();
			return snapshot;
		} catch (error) {
			snapshot?.[Symbol.dispose]();
			throw isDatabaseDamage(error) ? this.#damaged(error.message) : error;
		}
	}

	#damaged(problem: string): DamagedArchiveError {
		return new DamagedArchiveError(this.#archive, `its database is damaged (${problem})`);
	}

	/** @throws DamagedArchiveError unless the database names this blob next */
	requireNext(hash: string): void {
		const next = this.#expected?.next();
		if (next?.done === false && next.value.hash === hash) return;
		throw new DamagedArchiveError(this.#archive, 'it has other files than its database names');
	}

	/** @throws DamagedArchiveError if the database names more blobs, or has another schema than the manifest says */
	requireEnd({ schema_version }: Manifest): void {
		if (this.#expected?.next().done !== true)
			throw new DamagedArchiveError(this.#archive, 'files that its database names are missing');
		if (this.#snapshot?.schema !== schema_version)
			throw new DamagedArchiveError(this.#archive, 'its manifest has another schema version');
	}

	[Symbol.dispose](): void {
		this.#expected?.return?.();
		this.#snapshot?.[Symbol.dispose]();
	}
}

async function drain(content: AsyncIterable<Buffer>): Promise<void> {
	for await (const _chunk of content);
}
