import { access, constants, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { listBackups } from '../backup/index.ts';
import {
	AppError,
	createLog,
	formatBytes,
	messageOf,
	readCertificate,
	systemClock,
	timestamp,
	validityProblem,
} from '../base/index.ts';
import { durationMs, type Settings, tlsFiles } from '../config/index.ts';
import { createEmbedders, createModels, createProviders, probeEmbedder, probeProvider } from '../models/index.ts';
import { createNetwork, type Network } from '../net/index.ts';
import { findRecognitionPackages } from '../pool/index.ts';
import {
	backupSeries,
	type DatabaseReport,
	databaseFile,
	dataFolderError,
	inspectDatabase,
	repairSearchIndex,
} from '../store/index.ts';
import { openThesauri } from '../thesauri/index.ts';
import { alignColumns, type Command } from './command.ts';
import { fileSentence, inspectFiles } from './file-checks.ts';
import { checkPostgres } from './postgres-checks.ts';
import { checkServerKey } from './server-key-check.ts';

/** The result of one check. */
interface Finding {
	ok: boolean;
	/** What was checked. */
	subject: string;
	message: string;
}

/** Free bytes below which the disk check fails: a large upload may not fit. */
const MIN_FREE_BYTES = 256 * 1024 * 1024;

/** Time before the end of a certificate from which its check fails: most are renewed earlier. */
const MIN_CERTIFICATE_MS = 14 * 24 * 60 * 60 * 1000;

const doctor: Command = {
	name: 'doctor',
	summary:
		'check the database, uploaded files, the secret key, the certificate, the disk, backups and each model provider; exits with 1 when something is wrong',
	async run(invocation) {
		const settings = invocation.settings();
		await using network = createNetwork({ allowPrivateNetwork: settings.allow_private_network });
		const { database_url: url } = settings;
		const findings = [
			...(await (url === undefined ? checkDataFolder(settings) : checkPostgres(settings, url))),
			...checkTls(settings),
			checkDefaultModel(settings, network),
			...checkRecognition(settings),
			...(await checkThesauri(settings)),
		];
		// Checks run concurrently, so that several hanging ones take the time of one.
		const probes = settings.providers.map((provider) => checkProvider(provider, settings, network));
		if (settings.embedder !== 'builtin') probes.push(checkEmbedderReachable(settings, network));
		findings.push(...(await Promise.all(probes)));
		for (const line of alignColumns(
			findings.map(({ ok, subject, message }) => [ok ? 'ok' : 'FAILED', subject, message]),
		)) {
			invocation.print(line);
		}
		const wrong = findings.filter(({ ok }) => !ok).length;
		if (wrong > 0) throw new AppError('unavailable', `${wrong} of ${findings.length} checks failed.`);
	},
};

/** The command that checks the installation. */
export const doctorCommands = [doctor];

/** Checks the embedded database, and the other files of the data folder. */
async function checkDataFolder(settings: Settings): Promise<Finding[]> {
	const { report, findings } = checkDatabase(settings);
	return [
		...findings,
		...(await checkFiles(settings, report)),
		...(await checkKey(settings, report)),
		await checkDisk(settings),
		...(await folder(settings)),
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
		return { report: null, findings: [{ ok: false, subject, message: messageOf(error) }] };
	}
	if (report === null) {
		const message = `There is none in ${data_dir}: start the server once, or set PARLEY_DATA_DIR.`;
		return { report, findings: [{ ok: false, subject, message }] };
	}
	const findings = [integrity(data_dir, report, repaired)];
	return { report, findings: report.schema === null ? findings : [...findings, version(report.schema, report)] };
}

function integrity(dataDir: string, { bytes, problems }: DatabaseReport, repaired: boolean): Finding {
	const subject = 'database';
	const [first] = problems;
	if (first !== undefined) {
		const others = problems.length > 1 ? `, and ${problems.length - 1} more` : '';
		return { ok: false, subject, message: `${dataDir} is damaged: ${first}${others}.` };
	}
	const repair = repaired ? ' The search index lacked the table of languages; it was restored.' : '';
	return { ok: true, subject, message: `${formatBytes(bytes)} in ${dataDir} are sound.${repair}` };
}

function version(schema: number, { currentSchema }: DatabaseReport): Finding {
	const message =
		schema === currentSchema
			? `Version ${schema}, the current one.`
			: schema < currentSchema
				? `Version ${schema}; the next start migrates it to ${currentSchema}.`
				: `Version ${schema} is newer than this Parley, which knows ${currentSchema}. Use the newer Parley.`;
	return { ok: schema <= currentSchema, subject: 'schema', message };
}

/** Checks the uploaded files, which needs a database that this Parley can read. */
async function checkFiles({ data_dir }: Settings, report: DatabaseReport | null): Promise<Finding[]> {
	const subject = 'files';
	if (report === null || report.problems.length > 0 || report.schema !== report.currentSchema) return [];
	try {
		const files = await inspectFiles(data_dir);
		return [{ ok: files.missing.length === 0, subject, message: fileSentence(files) }];
	} catch (error) {
		return [{ ok: false, subject, message: messageOf(dataFolderError(error, data_dir) ?? error) }];
	}
}

/** Checks the secret key, which needs a database that this Parley can read. */
async function checkKey(settings: Settings, report: DatabaseReport | null): Promise<Finding[]> {
	const subject = 'secret key';
	if (report === null || report.problems.length > 0 || report.schema !== report.currentSchema) return [];
	return (await checkServerKey(settings)).map((finding) => ({ ...finding, subject }));
}

/** Whether TLS is possible with the files; none without TLS. */
function checkTls(settings: Settings): Finding[] {
	const subject = 'certificate';
	const files = tlsFiles(settings);
	if (files === null) return [];
	try {
		const certificate = readCertificate(files);
		const problem = validityProblem(certificate, systemClock.now());
		if (problem !== null) return [{ ok: false, subject, message: problem }];
		const remaining = certificate.validTo.getTime() - systemClock.now();
		const ok = remaining >= MIN_CERTIFICATE_MS;
		const advice = ok ? '' : ' That is in less than 14 days: renew it, then send SIGHUP to the server.';
		const message = `It is for ${certificate.names}, until ${certificate.validTo.toISOString()}.${advice}`;
		return [{ ok, subject, message }];
	} catch (error) {
		return [{ ok: false, subject, message: messageOf(error) }];
	}
}

async function checkDisk({ data_dir }: Settings): Promise<Finding> {
	try {
		const { bavail, bsize } = await statfs(data_dir);
		const free = bavail * bsize;
		const message = `${formatBytes(free)} are free${free < MIN_FREE_BYTES ? `, which is less than ${formatBytes(MIN_FREE_BYTES)}` : ''}.`;
		return { ok: free >= MIN_FREE_BYTES, subject: 'disk', message };
	} catch (error) {
		return { ok: false, subject: 'disk', message: `${data_dir} cannot be read: ${messageOf(error)}.` };
	}
}

/** A finding when this user, who should be the server's, may not write in the data folder; else none. */
async function folder({ data_dir }: Settings): Promise<Finding[]> {
	for (const path of [data_dir, databaseFile(data_dir), join(data_dir, 'blobs'), join(data_dir, 'blobs/incoming')]) {
		try {
			await access(path, constants.R_OK | constants.W_OK);
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
			const message = messageOf(dataFolderError(error, data_dir) ?? error);
			return [{ ok: false, subject: 'data folder', message }];
		}
	}
	return [];
}

/** Whether the server's backups are made, if it makes any. */
async function checkBackups({ backup_dir, backup_every, data_dir }: Settings): Promise<Finding[]> {
	if (backup_dir === undefined) return [];
	const subject = 'backups';
	try {
		const backups = await listBackups(backup_dir, backupSeries(data_dir));
		const [newest] = backups;
		if (newest === undefined) return [{ ok: false, subject, message: `There is none in ${backup_dir}.` }];
		const isLate = systemClock.now() - newest.madeAt > 2 * durationMs(backup_every);
		const problem = isLate ? `, which is longer ago than twice PARLEY_BACKUP_EVERY (${backup_every})` : '';
		const message = `${backups.length} in ${backup_dir}, the newest of ${timestamp(newest.madeAt)}${problem}.`;
		return [{ ok: !isLate, subject, message }];
	} catch (error) {
		return [{ ok: false, subject, message: `The backups in ${backup_dir} cannot be listed: ${messageOf(error)}.` }];
	}
}

/** Whether assistants without a model get one. */
function checkDefaultModel(settings: Settings, network: Network): Finding {
	const subject = 'default model';
	try {
		const providers = createProviders(settings.providers, { network, clock: systemClock, log: createLog('silent') });
		const { defaultModel } = createModels({ defaultModel: settings.default_model, providers });
		return { ok: true, subject, message: `It is ${defaultModel}.` };
	} catch (error) {
		return { ok: false, subject, message: messageOf(error) };
	}
}

/** The packages for text recognition, if it is configured. */
function checkRecognition({ ocr, ocr_dir }: Settings): Finding[] {
	if (ocr === undefined) return [];
	const subject = 'text recognition';
	const found = findRecognitionPackages(ocr, ocr_dir);
	if ('problem' in found) return [{ ok: false, subject, message: found.problem }];
	const languages = found.recognition.languages.map(({ code }) => code).join(', ');
	return [{ ok: true, subject, message: `tesseract.js ${found.version} with ${languages}, in ${found.folder}.` }];
}

/** The thesauri, if any are configured. */
async function checkThesauri({ thesauri: folders }: Settings): Promise<Finding[]> {
	if (folders.length === 0) return [];
	const subject = 'thesauri';
	try {
		await using thesauri = await openThesauri(folders);
		return thesauri.loaded.map(({ language, file, size }) => {
			return { ok: true, subject, message: `${size} words of ${language}, in ${file}.` };
		});
	} catch (error) {
		return [{ ok: false, subject, message: messageOf(error) }];
	}
}

async function checkProvider(
	provider: Settings['providers'][number],
	settings: Settings,
	network: Network,
): Promise<Finding> {
	const prefix = `${provider.id}/`;
	const { default_model } = settings;
	const configuredModel = default_model.startsWith(prefix) ? default_model.slice(prefix.length) : null;
	const dependencies = { network, clock: systemClock, log: createLog('silent') };
	const { ok, sentence: message } = await probeProvider(provider, configuredModel, dependencies);
	return { ok, subject: `provider ${provider.id}`, message };
}

/** Whether the configured embedder can make vectors. */
async function checkEmbedderReachable({ embedder: id, providers }: Settings, network: Network): Promise<Finding> {
	const dependencies = { network, clock: systemClock, log: createLog('silent') };
	const configured = createEmbedders(id, providers, dependencies).resolve(id);
	const subject = 'embedder';
	if (configured === null) return { ok: false, subject, message: `${id} is not configured.` };
	const { ok, sentence: message } = await probeEmbedder(configured);
	return { ok, subject, message };
}
