import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** Local copies of blobs, each for the time of a task. */
export class TemporaryFiles implements AsyncDisposable {
	readonly #folder: string;

	private constructor(folder: string) {
		this.#folder = folder;
	}

	/** @param folder of this process alone: what an earlier one has left is removed. Default: a new folder of the system. */
	static async open(folder?: string): Promise<TemporaryFiles> {
		if (folder === undefined) return new TemporaryFiles(await mkdtemp(join(tmpdir(), 'parley-files-')));
		await rm(folder, { recursive: true, force: true });
		return new TemporaryFiles(folder);
	}

	/** Writes the bytes to a file, runs the task, and removes the file. */
	async run<T>(bytes: AsyncIterable<Uint8Array>, task: (path: string) => Promise<T>): Promise<T> {
		// Programs that clean the system's folder may have removed it.
		await mkdir(this.#folder, { recursive: true, mode: 0o700 });
		const path = join(this.#folder, randomUUID());
		try {
			await pipeline(bytes, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
			return await task(path);
		} finally {
			await rm(path, { force: true });
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await rm(this.#folder, { recursive: true, force: true });
	}
}
