import { formatBytes, messageOf } from '../base/index.ts';
import type { Settings } from '../config/index.ts';
import { databaseError, inspectPostgres, openPostgresStore, type PostgresReport } from '../store/index.ts';
import { checkKeyOfCluster } from './server-key-check.ts';

/** The result of one check. */
interface Finding {
	ok: boolean;
	subject: string;
	message: string;
}

/** Checks PostgreSQL, and what Parley has in it. */
export async function checkPostgres(settings: Settings, url: string): Promise<Finding[]> {
	let report: PostgresReport;
	try {
		report = await inspectPostgres(url);
	} catch (error) {
		return [{ ok: false, subject: 'database', message: messageOf(databaseError(error) ?? error) }];
	}
	const { server, schema, currentSchema, content } = report;
	const findings: Finding[] = [
		{ ok: true, subject: 'database', message: `PostgreSQL ${server} answers.${content ? sizeOf(content.bytes) : ''}` },
		commits(report),
	];
	if (schema === null || content === null) {
		const message = 'There is nothing of Parley in the database yet: start a node on it once.';
		return [...findings, { ok: false, subject: 'schema', message }];
	}
	const isCurrent = schema === currentSchema;
	const version = `Version ${schema}${isCurrent ? ', the current one' : `, which this Parley can use; it knows ${currentSchema}`}.`;
	const servers = content.servers === 1 ? '1 node runs' : `${content.servers} nodes run`;
	return [
		...findings,
		{ ok: true, subject: 'schema', message: version },
		{ ok: true, subject: 'nodes', message: `${servers}. "parley cluster status" shows their shards.` },
		{ ok: true, subject: 'jobs', message: `${content.dueJobs} are due and wait for a node.` },
		files(content),
		...(await checkKey(settings, url)),
	];
}

function sizeOf(bytes: number): string {
	return ` The database has ${formatBytes(bytes)}.`;
}

function commits({ synchronousCommit }: PostgresReport): Finding {
	const ok = synchronousCommit !== 'off';
	const message = ok
		? `Commits are on disk before they are acknowledged (synchronous_commit is ${synchronousCommit}).`
		: 'Commits are acknowledged before they are on disk (synchronous_commit is off): a crash loses some. Switch it on.';
	return { ok, subject: 'commits', message };
}

function files({ files: count, fileBytes, missingFiles, orphans }: NonNullable<PostgresReport['content']>): Finding {
	const sizes = `Uploaded: ${count}, with ${formatBytes(fileBytes)}.`;
	const [first] = missingFiles;
	if (first !== undefined) {
		const message = `Missing: ${missingFiles.length}, for example ${first}. Upload their documents again. ${sizes}`;
		return { ok: false, subject: 'files', message };
	}
	const others = orphans === 0 ? '' : ` Of no document: ${orphans}.`;
	return { ok: true, subject: 'files', message: `${sizes}${others}` };
}

async function checkKey(settings: Settings, url: string): Promise<Finding[]> {
	const subject = 'secret key';
	try {
		await using store = await openPostgresStore({ url, role: 'tool' });
		return (await checkKeyOfCluster(store, settings)).map((finding) => ({ ...finding, subject }));
	} catch (error) {
		const problem = messageOf(databaseError(error) ?? error).replace(/\.$/, '');
		return [{ ok: false, subject, message: `The secret key cannot be checked: ${problem}.` }];
	}
}
