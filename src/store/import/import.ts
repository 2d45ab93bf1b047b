import { AppError } from '../../base/index.ts';
import { indexMessages } from '../postgres/inbox/index-messages.ts';
import { lockDataFolder } from '../sqlite/file-lock.ts';
import { checksumOfSourceFiles, checksumOfTargetFiles, copyFiles } from './copy-files.ts';
import { FILES_PART, IMPORTED_TABLES, type ImportedTable, SEARCH_PART } from './imported-tables.ts';
import { RowChecksum, storableValue, type TableChecksum, type Value } from './row.ts';
import { ImportSource } from './source.ts';
import { ImportTarget, type Progress } from './target.ts';

export interface ImportOptions {
	/** The data folder with the embedded database. */
	dataDir: string;
	/** `postgres://…` of an empty database, or of one in which an import was interrupted. */
	url: string;
	/** Ends the import between two portions. The next run goes on from there. */
	signal: AbortSignal;
	/** The time now (ms since the epoch). */
	now(): number;
	/** Is called when a part is in PostgreSQL. @param copied its rows */
	onCopied(part: string, copied: number): void;
}

/** A part of both databases, as each of them has it. */
export interface ComparedPart {
	part: string;
	source: TableChecksum;
	target: TableChecksum;
}

/** How an import ended. */
export type ImportOutcome =
	/** An earlier run has completed it. */
	| { completedAt: number }
	/** If all parts are equal, servers may start. */
	| { parts: ComparedPart[]; isEqual: boolean };

/** Messages of one transaction. */
const SEARCH_PORTION = 500;
/** Rows of PostgreSQL that are in memory at once when the copy is read again: few of those that may be large. */
const COMPARED_ROWS = 200;
const COMPARED_LARGE_ROWS = 2;
const LARGE_ROWS = new Set(['bases']);

/**
 * Copies an embedded database into PostgreSQL, as a whole:
 *
 * 1. The lock of the data folder keeps servers from the source, a row in `imports` keeps them from the target.
 * 2. Each table is copied in portions, in the order of its key. A transaction has a portion and its position, so a run that was killed
 *    goes on after the last portion that PostgreSQL has.
 * 3. Files are copied, the index of messages is made, and the sequences continue.
 * 4. Both sides are read again as a whole and compared by counts and checksums. Only if all are equal, servers may start.
 * @throws AppError `unavailable`, errors of both databases
 */
export async function importIntoPostgres(options: ImportOptions): Promise<ImportOutcome> {
	const { dataDir, url, signal, onCopied } = options;
	using _lock = lockDataFolder(dataDir);
	using source = new ImportSource(dataDir);
	requireFiles(source);
	await using target = await ImportTarget.open(url);
	const completedAt = await target.begin(source.identity, options.now());
	if (completedAt !== null) return { completedAt };
	for (const table of IMPORTED_TABLES) {
		onCopied(table.name, (await copyTable(source, target, table, signal)).copied);
	}
	onCopied(FILES_PART, (await copyFiles(source, target, signal)).copied);
	onCopied(SEARCH_PART, (await makeSearch(source, target, signal)).copied);
	await continueSequences(source, target);
	const parts = await compare(source, target, signal);
	const isEqual = parts.every(({ source: of, target: copy }) => of.rows === copy.rows && of.checksum === copy.checksum);
	if (isEqual) await target.complete(options.now());
	return { parts, isEqual };
}

/** @throws AppError `unavailable` for documents without their file: PostgreSQL would have the same gap */
function requireFiles(source: ImportSource): void {
	const missing = source.missingFiles();
	const [first] = missing;
	if (first === undefined) return;
	const others = missing.length > 1 ? ` and ${missing.length - 1} more` : '';
	throw new AppError(
		'unavailable',
		`The file of the document ${first.document}${others} is missing (${source.filePath(first.hash)}). Bring it back from a backup, or delete the document.`,
	);
}

async function copyTable(
	source: ImportSource,
	target: ImportTarget,
	table: ImportedTable,
	signal: AbortSignal,
): Promise<Progress> {
	const columns = await target.columnsOf(table.name);
	const lost = source.columnsOf(table).filter((column) => !columns.includes(column));
	if (lost.length > 0) throw new Error(`PostgreSQL has no column ${lost} in ${table.name}.`);
	let progress = await target.progressOf(table.name);
	while (!progress.isComplete) {
		signal.throwIfAborted();
		const { rows, position } = source.portion(table, columns, progress.position);
		const next: Progress = {
			position: position ?? progress.position,
			copied: progress.copied + rows.length,
			isComplete: position === null,
		};
		await target.transaction(async () => {
			await target.insert(table, rows);
			await target.saveProgress(table.name, next);
		});
		progress = next;
	}
	return progress;
}

/** Makes the index of messages from those that were copied. */
async function makeSearch(source: ImportSource, target: ImportTarget, signal: AbortSignal): Promise<Progress> {
	let progress = await target.progressOf(SEARCH_PART);
	while (!progress.isComplete) {
		signal.throwIfAborted();
		const ids = source.searchableMessages(String(progress.position?.[0] ?? ''), SEARCH_PORTION);
		const next: Progress = {
			position: [ids.at(-1) ?? progress.position?.[0] ?? ''],
			copied: progress.copied + ids.length,
			isComplete: ids.length < SEARCH_PORTION,
		};
		await target.transaction(async () => {
			await indexMessages(target.sql, ids);
			await target.saveProgress(SEARCH_PART, next);
		});
		progress = next;
	}
	return progress;
}

/** New rows get numbers that no row has had. Repeatable. */
async function continueSequences(source: ImportSource, target: ImportTarget): Promise<void> {
	await target.setSequence('chunks', 'id', source.lastChunk());
	for (const table of ['bases', 'indexed_documents']) {
		const row = await target.sql.get<{ last: number }>(`SELECT coalesce(max(seq), 0) AS last FROM ${table}`);
		await target.setSequence(table, 'seq', row?.last ?? 0);
	}
}

async function compare(source: ImportSource, target: ImportTarget, signal: AbortSignal): Promise<ComparedPart[]> {
	const parts: ComparedPart[] = [];
	for (const table of IMPORTED_TABLES) {
		signal.throwIfAborted();
		const columns = await target.columnsOf(table.name);
		parts.push({
			part: table.name,
			source: checksumOfSource(source, table, columns),
			target: await checksumOfTarget(target, table, columns),
		});
	}
	parts.push({
		part: FILES_PART,
		source: checksumOfSourceFiles(source),
		target: await checksumOfTargetFiles(target),
	});
	parts.push({
		part: SEARCH_PART,
		source: checksumOfSearchable(source),
		target: await checksumOfIndexed(target),
	});
	return parts;
}

function checksumOfSource(source: ImportSource, table: ImportedTable, columns: readonly string[]): TableChecksum {
	const sum = new RowChecksum();
	for (let after: Value[] | null = null; ; ) {
		const { rows, position } = source.portion(table, columns, after);
		for (const row of rows) sum.add(columns.map((column) => storableValue(row[column] ?? null)));
		if (position === null) return sum.end();
		after = position;
	}
}

async function checksumOfTarget(
	target: ImportTarget,
	{ name }: ImportedTable,
	columns: readonly string[],
): Promise<TableChecksum> {
	const sum = new RowChecksum();
	const portion = LARGE_ROWS.has(name) ? COMPARED_LARGE_ROWS : COMPARED_ROWS;
	for await (const row of target.rows(`SELECT * FROM ${name}`, portion)) {
		sum.add(columns.map((column) => row[column] as Value));
	}
	return sum.end();
}

function checksumOfSearchable(source: ImportSource): TableChecksum {
	const sum = new RowChecksum();
	for (let after = ''; ; ) {
		const ids = source.searchableMessages(after, SEARCH_PORTION);
		for (const id of ids) sum.add([id]);
		const last = ids.at(-1);
		if (last === undefined) return sum.end();
		after = last;
	}
}

async function checksumOfIndexed(target: ImportTarget): Promise<TableChecksum> {
	const sum = new RowChecksum();
	const rows = target.rows(`SELECT message_id FROM ${SEARCH_PART}`, COMPARED_ROWS);
	for await (const { message_id } of rows) sum.add([message_id as Value]);
	return sum.end();
}
