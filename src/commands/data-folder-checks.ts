import { access, constants, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { FolderTimeout, listBackups, withFolderDeadline } from '../backup/index.ts';
import { AppError, formatBytes, messageOf, systemClock, timestamp } from '../base/index.ts';
import { durationMs, type Settings } from '../config/index.ts';
import {
	backupSeries,
	type DatabaseReport,
	damagedDatabaseError,
	databaseFile,
	dataFolderError,
	inspectDatabase,
	repairSearchIndex,
} from '../store/index.ts';
import { fileSentence, inspectFiles } from './file-checks.ts';
import { type Finding, failed, failedWith, passed } from './finding.ts';
import { checkServerKey } from './server-key-check.ts';

/** Free bytes below which the disk check fails: a large upload may not fit. */
const MIN_FREE_BYTES = 256 * 1024 * 1024;

/** Checks the embedded database, and the other files of the data folder. */
export async function checkDataFolder(settings: Settings): Promise<Finding[]> {
	const { report, findings } = checkDatabase(settings);
	return [
		...findings,
		...(await checkFiles(settings, report)),
		...(await checkKey(settings, report)),
		await checkDisk(settings),
		...(await checkAccess(settings)),
		...(await checkBackups(settings)),
	];
}

/** Checks the database. A missing table of the search index is repaired. */
function checkDatabase({ data_dir }: Settings): { report: DatabaseReport | null; findings: Finding[] } {
	const subject = 'database';
	let report: DatabaseReport | null;
	let repaired = false;
	try {
		report = inspectDatabase(data_dir);
		if (report?.isRepairable && report.problems.length === 0) {
			repairSearchIndex(data_dir);
			repaired = true;
		}
	} catch (error) {
		return { report: null, findings: [unusable(subject, error, data_dir)] };
	}
	if (report === null) {
		const message = `There is none in ${data_dir}: start the server once, or set PARLEY_DATA_DIR.`;
		return { report, findings: [failedWith(subject, message)] };
	}
	const findings = [integrity(data_dir, report, repaired)];
	return { report, findings: report.schema === null ? findings : [...findings, version(report.schema, report)] };
}

function integrity(dataDir: string, { bytes, problems }: DatabaseReport, repaired: boolean): Finding {
	const subject = 'database';
	const [first] = problems;
	if (first !== undefined) {
		const others = problems.length > 1 ? `, and ${problems.length - 1} more` : '';
		// SQLite quotes the schema, which has several lines.
		const problem = first.problem.replace(/\s+/g, ' ');
		return failed(subject, `${dataDir} is damaged: ${problem}${others}`, `Stop the server. ${first.remedy}`);
	}
	const repair = repaired ? ' The search index lacked the table of languages; it was restored.' : '';
	return passed(subject, `${formatBytes(bytes)} in ${dataDir} are sound.${repair}`);
}

function version(schema: number, { currentSchema }: DatabaseReport): Finding {
	const message =
		schema === currentSchema
			? `Version ${schema}, the current one.`
			: schema < currentSchema
				? `Version ${schema}; the next start migrates it to ${currentSchema}.`
				: `Version ${schema} is newer than this Parley, which knows ${currentSchema}. Use the newer Parley.`;
	return schema <= currentSchema ? passed('schema', message) : failedWith('schema', message);
}

/** Checks the uploaded files, which needs a database that this Parley can read. */
async function checkFiles({ data_dir }: Settings, report: DatabaseReport | null): Promise<Finding[]> {
	const subject = 'files';
	if (report === null || report.problems.length > 0 || report.schema !== report.currentSchema) return [];
	try {
		const files = await inspectFiles(data_dir);
		const message = fileSentence(files);
		return [files.missing.length === 0 ? passed(subject, message) : failedWith(subject, message)];
	} catch (error) {
		return [unusable(subject, error, data_dir)];
	}
}

/** Checks the secret key, which needs a database that this Parley can read. */
async function checkKey(settings: Settings, report: DatabaseReport | null): Promise<Finding[]> {
	const subject = 'secret key';
	if (report === null || report.problems.length > 0 || report.schema !== report.currentSchema) return [];
	return (await checkServerKey(settings)).map((finding) => ({ ...finding, subject }));
}

async function checkDisk({ data_dir }: Settings): Promise<Finding> {
	const subject = 'disk';
	try {
		const { bavail, bsize } = await statfs(data_dir);
		const free = bavail * bsize;
		const message = `${formatBytes(free)} are free`;
		if (free >= MIN_FREE_BYTES) return passed(subject, `${message}.`);
		return failed(
			subject,
			`${message}, which is less than ${formatBytes(MIN_FREE_BYTES)}`,
			'Free up space on the disk.',
		);
	} catch (error) {
		return unusable(subject, error, data_dir);
	}
}

/** A finding when this user, who should be the server's, may not write in the data folder; else none. */
async function checkAccess({ data_dir }: Settings): Promise<Finding[]> {
	for (const path of [data_dir, databaseFile(data_dir), join(data_dir, 'blobs'), join(data_dir, 'blobs/incoming')]) {
		try {
			await access(path, constants.R_OK | constants.W_OK);
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
			return [unusable('data folder', error, data_dir)];
		}
	}
	return [];
}

/** Whether the server's backups are made, if it makes any. */
async function checkBackups({ backup_dir, backup_every, data_dir }: Settings): Promise<Finding[]> {
	if (backup_dir === undefined) return [];
	const subject = 'backups';
	try {
		const remedy = "Look for 'a backup has failed' in the server's log. If the server does not run, start it.";
		const backups = await withFolderDeadline(listBackups(backup_dir, backupSeries(data_dir)));
		const now = systemClock.now();
		// A backup from the future was made by a clock that was wrong.
		const newest = backups.find(({ madeAt }) => madeAt <= now);
		if (newest === undefined) return [failed(subject, `There is none in ${backup_dir}`, remedy)];
		const message = `${backups.length} in ${backup_dir}, the newest of ${timestamp(newest.madeAt)}`;
		if (now - newest.madeAt <= 2 * durationMs(backup_every)) return [passed(subject, `${message}.`)];
		const problem = `${message}, which is longer ago than twice PARLEY_BACKUP_EVERY (${backup_every})`;
		return [failed(subject, problem, remedy)];
	} catch (error) {
		const problem = `The backups in ${backup_dir} cannot be listed: ${messageOf(error)}`;
		const remedy =
			error instanceof FolderTimeout
				? 'Check the disk or the network on which it is.'
				: "Make it a folder that the server's user can read and write.";
		return [failed(subject, problem, remedy)];
	}
}

/** An error of the data folder or its database. */
function unusable(subject: string, error: unknown, dataDir: string): Finding {
	if (error instanceof AppError) return failedWith(subject, error.message);
	const known = dataFolderError(error, dataDir) ?? damagedDatabaseError(error, dataDir);
	if (known !== null) return failedWith(subject, known.message);
	return failed(
		subject,
		`${dataDir} cannot be used: ${messageOf(error)}`,
		'Stop the server, and run the doctor again.',
	);
}
