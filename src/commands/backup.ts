import { existsSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import { checkSecretKey } from '../access/index.ts';
import {
	createBackup,
	isBackupFolder,
	type Manifest,
	removeOldBackups,
	restoreBackup,
	verifyBackup,
} from '../backup/index.ts';
import { AppError, formatBytes, lowerProcessPriority, messageOf, systemClock } from '../base/index.ts';
import type { Settings } from '../config/index.ts';
import { openReaders, SCHEMA_VERSION } from '../store/index.ts';
import { type Command, type Invocation, UsageError } from './command.ts';
import { requireEmbedded } from './postgres.ts';

const MAX_KEPT = 10_000;

const backup: Command = {
	name: 'backup',
	positionals: ['FILE|DIRECTORY'],
	options: { keep: 'N' },
	summary:
		'make a verified backup of the data folder, without its secret key; in a directory it is named by its time, and with --keep only the newest N stay',
	async run(invocation) {
		const settings = invocation.settings();
		requireEmbedded(settings, 'backup');
		const [target = ''] = invocation.positionals;
		const keep = keepOption(invocation);
		const isFolder = await isBackupFolder(target);
		if (keep !== undefined && !isFolder) throw new UsageError(keepWithoutFolder(target));
		if (!isFolder && extname(target) === '') {
			invocation.printInfo(`${target} is no directory: it becomes the file of the backup. ${newFolderHint(target)}`);
		}
		// Requests of a server on this machine go first.
		lowerProcessPriority();
		const made = await untilStopped((signal) =>
			createBackup({ dataDir: settings.data_dir, target, clock: systemClock, signal }),
		);
		invocation.print(made.file);
		invocation.printInfo(`${formatBytes(made.bytes)} with ${contentOf(made.manifest)}. The secret key is not in it.`);
		if (keep === undefined) return;
		const removed = await removeOldBackups(dirname(made.file), keep, basename(made.file)).catch((cause: unknown) => {
			const problem = `The backup was made, but older ones cannot be deleted: ${messageOf(cause)}.`;
			throw new AppError('unavailable', problem, { cause });
		});
		if (removed.length > 0) invocation.printInfo(`Deleted older backups: ${removed.join(', ')}.`);
	},
};

const verify: Command = {
	name: 'verify',
	positionals: ['FILE'],
	summary: 'check every byte of a backup, and the database in it; exits with 1 when something is wrong',
	async run(invocation) {
		requireEmbedded(invocation.settings(), 'verify');
		const [file = ''] = invocation.positionals;
		const manifest = await untilStopped((signal) => verifyBackup(file, signal));
		const { created_at, parley_version, schema_version } = manifest;
		invocation.print(`${file} is intact: ${contentOf(manifest)}.`);
		invocation.printInfo(`Made at ${created_at} by Parley ${parley_version}, schema version ${schema_version}.`);
	},
};

const restore: Command = {
	name: 'restore',
	positionals: ['FILE'],
	summary: 'unpack a backup into an empty data folder (PARLEY_DATA_DIR)',
	async run(invocation) {
		const settings = invocation.settings();
		requireEmbedded(settings, 'restore');
		const [file = ''] = invocation.positionals;
		const manifest = await untilStopped((signal) => restoreBackup({ dataDir: settings.data_dir, file, signal }));
		invocation.print(`${contentOf(manifest)} of ${manifest.created_at} are in ${settings.data_dir}.`);
		invocation.printInfo(await nextStep(settings, manifest));
	},
};

/** Commands about backups. */
export const backupCommands = [backup, verify, restore];

/** Runs a task that removes its unfinished files when a signal asks this process to stop. */
async function untilStopped<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T> {
	const stop = new AbortController();
	for (const name of ['SIGINT', 'SIGTERM'] as const) {
		process.once(name, () => stop.abort(new AppError('unavailable', 'Stopped. Unfinished files were removed.')));
	}
	return task(stop.signal);
}

function keepOption(invocation: Invocation): number | undefined {
	const text = invocation.option('keep');
	if (text === undefined) return undefined;
	const keep = Number(text);
	if (/^\d+$/.test(text) && keep >= 1 && keep <= MAX_KEPT) return keep;
	throw new UsageError(`--keep is a number from 1 to ${MAX_KEPT}.`);
}

function keepWithoutFolder(target: string): string {
	const problem = `--keep is for a directory, and ${target}`;
	return existsSync(target) ? `${problem} is a file.` : `${problem} does not exist. ${newFolderHint(target)}`;
}

const newFolderHint = (target: string) => `For a new directory, write ${target}/.`;

function contentOf({ counts, blobs }: Manifest): string {
	const { conversations = 0, documents = 0 } = counts;
	return `${conversations} conversations, ${documents} documents and ${blobs.count} files`;
}

/** What to do before the server can start on restored data. */
async function nextStep({ data_dir, secret_key }: Settings, { schema_version }: Manifest): Promise<string> {
	// An older schema may lack what the check reads.
	if (schema_version === SCHEMA_VERSION) {
		using readers = openReaders(data_dir);
		if ('key' in (await checkSecretKey(readers, data_dir, secret_key))) return 'Start the server now.';
	}
	return `The secret key is not in backups. Put secret.key of the former server into ${data_dir}, or set PARLEY_SECRET_KEY, then start the server.`;
}
