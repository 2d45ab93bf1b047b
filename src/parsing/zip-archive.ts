import { type UnzipFileInfo, unzipSync } from 'fflate';
import { AppError, messageOf } from '../base/index.ts';
import { resourceLimit } from './limits.ts';

/** No part of a document with 10 MB of text needs more, and all parts together must fit into a worker's memory. */
const MAX_PART_BYTES = 160 * 1024 * 1024;
const MAX_TOTAL_BYTES = 200 * 1024 * 1024;

/** XML of real documents compresses by a factor of at most fifty; a bomb by a thousand. */
const MAX_RATIO = 400;
const RATIO_EXEMPT_BYTES = 4 * 1024 * 1024;
/** A document with a thousand pictures has a thousand. */
const MAX_ENTRIES = 20_000;

/** The parts of a document that is a ZIP archive, by their names in lower case. */
export type Parts = ReadonlyMap<string, Uint8Array>;

/**
 * Inflates the parts of an archive that hold text; pictures and embedded files stay compressed. All sizes are checked before a
 * byte is inflated, and no part gets more memory than the archive declares.
 * @param kind what the file is, for the sentences of errors
 * @param wanted the names of the parts that hold text
 * @throws AppError `unreadable_file` for a broken archive, `resource_limit` for an archive that inflates beyond the limits
 */
export function openArchive(bytes: Uint8Array, kind: string, wanted: RegExp): Parts {
	let total = 0;
	let entries = 0;
	const filter = (file: UnzipFileInfo): boolean => {
		if (++entries > MAX_ENTRIES)
			throw resourceLimit(`The ${kind} holds more than ${MAX_ENTRIES.toLocaleString('en')} files.`);
		if (!wanted.test(file.name)) return false;
		total += file.originalSize;
		const bomb = file.originalSize > RATIO_EXEMPT_BYTES && file.originalSize > file.size * MAX_RATIO;
		if (bomb || file.originalSize > MAX_PART_BYTES || total > MAX_TOTAL_BYTES) {
			throw resourceLimit(`The ${kind} unpacks to far more data than a document holds.`);
		}
		return true;
	};
	try {
		const files = Object.entries(unzipSync(bytes, { filter }));
		return new Map(files.map(([name, content]) => [name.replace(/\\/g, '/').toLowerCase(), content]));
	} catch (error) {
		if (error instanceof AppError) throw error;
		throw new AppError('unreadable_file', `The ${kind} is damaged: its archive cannot be opened.`, {
			cause: messageOf(error),
		});
	}
}
