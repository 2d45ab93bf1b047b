import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { formatBytes } from '../base/index.ts';
import { databaseFile, FileBlobs, namedBlobs } from '../store/index.ts';

/** What is known of the files of a data folder. */
export interface FileReport {
	/** Bytes of the database's log. */
	logBytes: number;
	/** Files that documents name, and their bytes on disk. */
	files: number;
	bytes: number;
	/** Files that a document names and that are not there. */
	missing: string[];
	/** Files that no document names. */
	orphans: number;
	orphanBytes: number;
}

/**
 * Compares the uploaded files with the documents that name them. May run beside a server.
 * @param dataDir a folder with a database of the current schema
 */
export async function inspectFiles(dataDir: string): Promise<FileReport> {
	const blobs = new FileBlobs(join(dataDir, 'blobs'));
	const log = await stat(`${databaseFile(dataDir)}-wal`).catch(() => ({ size: 0 }));
	const report: FileReport = { logBytes: log.size, files: 0, bytes: 0, missing: [], orphans: 0, orphanBytes: 0 };
	const onDisk = new Set<string>();
	if (existsSync(join(dataDir, 'blobs'))) for await (const hash of blobs.list()) onDisk.add(hash);
	// After the list: a document that was deleted meanwhile names its file no more, and a new upload is counted as named.
	const named = new Set(namedBlobs(dataDir));
	for (const hash of onDisk) {
		const { size } = await stat(blobs.path(hash)).catch(() => ({ size: 0 }));
		if (named.has(hash)) {
			report.files += 1;
			report.bytes += size;
		} else {
			report.orphans += 1;
			report.orphanBytes += size;
		}
	}
	const absent = [...named].filter((hash) => !existsSync(blobs.path(hash)));
	if (absent.length > 0) {
		// A document may have been deleted between the two looks.
		const stillNamed = new Set(namedBlobs(dataDir));
		report.missing = absent.filter((hash) => stillNamed.has(hash));
	}
	return report;
}

/** The report as a sentence that says what to do. */
export function fileSentence(report: FileReport): string {
	const { missing, orphans, orphanBytes } = report;
	const sizes = `Uploaded: ${report.files}, with ${formatBytes(report.bytes)}. Log of the database: ${formatBytes(report.logBytes)}.`;
	if (missing.length > 0) {
		return `${sizes} Missing: ${missing.length}, for example ${missing[0]}. Copy them from a backup into blobs, or upload their documents again.`;
	}
	if (orphans === 0) return sizes;
	return `${sizes} Of no document: ${orphans}, with ${formatBytes(orphanBytes)}. The server removes them at its next start.`;
}
