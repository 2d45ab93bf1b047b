import { AppError, formatBytes, messageOf } from '../base/index.ts';
import type { Settings } from '../config/index.ts';
import { databaseError, inspectPostgres, openPostgresStore, type PostgresReport } from '../store/index.ts';
import { type Finding, failed, failedWith, passed } from './finding.ts';
import { checkKeyOfCluster } from './server-key-check.ts';

/** Checks PostgreSQL, and what Parley has in it. */
export async function checkPostgres(settings: Settings, url: string): Promise<Finding[]> {
	let report: PostgresReport;
	try {
		report = await inspectPostgres(url);
	} catch (error) {
		return [unusable('database', error)];
	}
	const { server, schema, currentSchema, content } = report;
	const findings: Finding[] = [
		passed('database', `PostgreSQL ${server} answers.${content ? sizeOf(content.bytes) : ''}`),
		commits(report),
	];
	if (schema === null || content === null) {
		const message = 'There is nothing of Parley in the database yet: start a node on it once.';
		return [...findings, failedWith('schema', message)];
	}
	const isCurrent = schema === currentSchema;
	const version = `Version ${schema}${isCurrent ? ', the current one' : `, which this Parley can use; it knows ${currentSchema}`}.`;
	const servers = content.servers === 1 ? '1 node runs' : `${content.servers} nodes run`;
	return [
		...findings,
		passed('schema', version),
		passed('nodes', `${servers}. "parley cluster status" shows their shards.`),
		passed('jobs', `${content.dueJobs} are due and wait for a node.`),
		files(content),
		...(await checkKey(settings, url)),
	];
}

function sizeOf(bytes: number): string {
	return ` The database has ${formatBytes(bytes)}.`;
}

function commits({ synchronousCommit }: PostgresReport): Finding {
	const subject = 'commits';
	if (synchronousCommit !== 'off') {
		return passed(
			subject,
			`Commits are on disk before they are acknowledged (synchronous_commit is ${synchronousCommit}).`,
		);
	}
	const problem = 'Commits are acknowledged before they are on disk (synchronous_commit is off): a crash loses some';
	return failed(subject, problem, 'Set synchronous_commit to on.');
}

function files({ files: count, fileBytes, missingFiles, orphans }: NonNullable<PostgresReport['content']>): Finding {
	const subject = 'files';
	const sizes = `Uploaded: ${count}, with ${formatBytes(fileBytes)}.`;
	const [first] = missingFiles;
	if (first !== undefined) {
		const problem = `${sizes} Missing: ${missingFiles.length}, for example ${first}`;
		return failed(subject, problem, 'Upload their documents again.');
	}
	const others = orphans === 0 ? '' : ` Of no document: ${orphans}. A node removes them.`;
	return passed(subject, `${sizes}${others}`);
}

async function checkKey(settings: Settings, url: string): Promise<Finding[]> {
	const subject = 'secret key';
	try {
		await using store = await openPostgresStore({ url, role: 'tool' });
		return (await checkKeyOfCluster(store, settings)).map((finding) => ({ ...finding, subject }));
	} catch (error) {
		return [unusable(subject, error)];
	}
}

/** An error of the database. Sentences of Parley about its schema have no cause and say what to do. */
function unusable(subject: string, thrown: unknown): Finding {
	const error = databaseError(thrown) ?? thrown;
	if (error instanceof AppError && error.cause === undefined) return failedWith(subject, error.message);
	return failed(subject, messageOf(error), 'Start PostgreSQL, or correct PARLEY_DATABASE_URL.');
}
