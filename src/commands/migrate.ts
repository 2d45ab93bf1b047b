import { join } from 'node:path';
import { AppError, systemClock, timestamp } from '../base/index.ts';
import { isPostgresUrl } from '../config/index.ts';
import {
	type ComparedPart,
	damagedDatabaseError,
	databaseError,
	dataFolderError,
	importIntoPostgres,
} from '../store/index.ts';
import { alignColumns, type Command, type Invocation, UsageError } from './command.ts';
import { requireDatabase } from './data-folder.ts';

const migrate: Command = {
	name: 'migrate',
	options: { to: 'URL' },
	summary:
		'copy the embedded database and the files of the data folder into an empty PostgreSQL database (postgres://…), and compare both (stop the server first); run it again after an interruption',
	async run(invocation) {
		const { data_dir, database_url } = invocation.settings();
		const url = invocation.option('to') ?? database_url;
		if (url === undefined || !isPostgresUrl(url)) {
			throw new UsageError('--to is the URL of a PostgreSQL database: postgres://user:password@host/name.');
		}
		await copy(invocation, data_dir, url);
		invocation.printInfo(
			`Start nodes with PARLEY_DATABASE_URL, and with PARLEY_SECRET_KEY set to the key of the former server (${join(data_dir, 'secret.key')}, or its PARLEY_SECRET_KEY).`,
		);
	},
};

/** The command that moves to PostgreSQL. */
export const migrateCommands = [migrate];

async function copy(invocation: Invocation, dataDir: string, url: string): Promise<void> {
	const stop = new AbortController();
	const onSignal = () =>
		stop.abort(new AppError('unavailable', 'Stopped. The same command goes on where this has ended.'));
	for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, onSignal);
	try {
		requireDatabase(dataDir);
		const outcome = await importIntoPostgres({
			...{ dataDir, url, signal: stop.signal },
			now: () => systemClock.now(),
			onCopied: (part, copied) => invocation.printInfo(`${part}: ${copied} copied`),
		});
		if ('completedAt' in outcome) {
			invocation.print(`Copied completely at ${timestamp(outcome.completedAt)}. Nothing was changed.`);
			return;
		}
		for (const line of alignColumns(comparison(outcome.parts))) invocation.print(line);
		if (!outcome.isEqual) throw differenceError(outcome.parts);
	} catch (error) {
		const ofPostgres = databaseError(error);
		if (ofPostgres === null) throw dataFolderError(error, dataDir) ?? damagedDatabaseError(error, dataDir) ?? error;
		const sentence = `${ofPostgres.message} The same command goes on where this has ended.`;
		throw new AppError('unavailable', sentence, { cause: error });
	} finally {
		for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, onSignal);
	}
}

function comparison(parts: readonly ComparedPart[]): string[][] {
	return [
		['PART', 'EMBEDDED', 'CHECKSUM', 'POSTGRESQL', 'CHECKSUM', ''],
		...parts.map((compared) => {
			const { part, source, target } = compared;
			const result = isEqual(compared) ? 'equal' : 'DIFFERENT';
			return [part, String(source.rows), source.checksum, String(target.rows), target.checksum, result];
		}),
	];
}

function isEqual({ source, target }: ComparedPart): boolean {
	return source.rows === target.rows && source.checksum === target.checksum;
}

function differenceError(parts: readonly ComparedPart[]): AppError {
	const different = parts.filter((part) => !isEqual(part)).map(({ part }) => part);
	return new AppError(
		'unavailable',
		`The copy differs in ${different.join(', ')}: something has changed one of the databases meanwhile. Nodes do not start on it. Empty the PostgreSQL database (DROP SCHEMA parley CASCADE), then run the command again.`,
	);
}
