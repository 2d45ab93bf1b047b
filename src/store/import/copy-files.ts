import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { AppError } from '../../base/index.ts';
import { CHUNK_BYTES, ChunkBuffer } from '../postgres/blobs/chunk-buffer.ts';
import type { SnapshotBlob } from '../sqlite/snapshot.ts';
import { FILES_PART } from './imported-tables.ts';
import { RowChecksum, type TableChecksum } from './row.ts';
import type { ImportSource } from './source.ts';
import type { ImportTarget, Progress } from './target.ts';

/** Files, and about the bytes, of one transaction. A large file is one of its own. */
const TRANSACTION_FILES = 100;
const TRANSACTION_BYTES = 16 * 1024 * 1024;
/** Chunks that are in memory at once when the copy is read again. */
const CHUNKS_PER_PORTION = 16;

/**
 * Copies the files that documents name, in the order of their hashes. Only a chunk of a file is in memory.
 * @throws AppError `unavailable` when a file has another content than its name says
 */
export async function copyFiles(source: ImportSource, target: ImportTarget, signal: AbortSignal): Promise<Progress> {
	let progress = await target.progressOf(FILES_PART);
	while (!progress.isComplete) {
		signal.throwIfAborted();
		const after = String(progress.position?.[0] ?? '');
		const files = source.files(after, TRANSACTION_FILES);
		progress = await target.transaction(async () => {
			let [bytes, copied, last] = [0, 0, after];
			for (const file of files) {
				bytes += await copyFile(source, target, file);
				copied++;
				last = file.hash;
				if (bytes >= TRANSACTION_BYTES) break;
			}
			const next = {
				position: [last],
				copied: progress.copied + copied,
				isComplete: files.length < TRANSACTION_FILES && copied === files.length,
			};
			await target.saveProgress(FILES_PART, next);
			return next;
		});
	}
	return progress;
}

/** @returns the size of the file in bytes */
async function copyFile(source: ImportSource, target: ImportTarget, { hash, document }: SnapshotBlob): Promise<number> {
	const content = randomUUID();
	const digest = createHash('sha256');
	let size = 0;
	const chunks = new ChunkBuffer(async (bytes, number) => {
		await target.sql.run('INSERT INTO blob_chunks (content, number, bytes) VALUES (@content, @number, @bytes)', {
			...{ content, number, bytes },
		});
	});
	for await (const piece of createReadStream(source.filePath(hash), { highWaterMark: CHUNK_BYTES })) {
		digest.update(piece as Buffer);
		size += (piece as Buffer).length;
		await chunks.add(piece as Buffer);
	}
	await chunks.end();
	if (digest.digest('hex') !== hash) {
		throw new AppError(
			'unavailable',
			`The file ${source.filePath(hash)} of the document ${document} is damaged. Bring it back from a backup, or delete the document.`,
		);
	}
	await target.sql.run('INSERT INTO blobs (hash, content, size) VALUES (@hash, @content, @size)', {
		...{ hash, content, size },
	});
	return size;
}

/** What the data folder has: each file by its name, which is the hash of its content. */
export function checksumOfSourceFiles(source: ImportSource): TableChecksum {
	const sum = new RowChecksum();
	for (let after = ''; ; ) {
		const files = source.files(after, TRANSACTION_FILES);
		for (const { hash } of files) sum.add([hash]);
		const last = files.at(-1);
		if (last === undefined) return sum.end();
		after = last.hash;
	}
}

/** What PostgreSQL has: each file by the hash of the bytes that are stored, which must be its name. */
export async function checksumOfTargetFiles(target: ImportTarget): Promise<TableChecksum> {
	const sum = new RowChecksum();
	let name = '';
	let digest = createHash('sha256');
	const endFile = () => {
		const found = digest.digest('hex');
		if (name !== '') sum.add([found === name ? found : `${name} has the content of ${found}`]);
	};
	const chunks = target.rows(
		'SELECT hash, bytes FROM blobs LEFT JOIN blob_chunks USING (content) ORDER BY hash, number',
		CHUNKS_PER_PORTION,
	);
	for await (const { hash, bytes } of chunks) {
		if (hash !== name) {
			endFile();
			name = String(hash);
			digest = createHash('sha256');
		}
		if (bytes instanceof Buffer) digest.update(bytes);
	}
	endFile();
	return sum.end();
}
