import { AppError, createLog, messageOf, readCertificate, systemClock, validityProblem } from '../base/index.ts';
import { type Settings, tlsFiles } from '../config/index.ts';
import {
	createEmbedders,
	createModels,
	createProviders,
	type ProbeOutcome,
	probeEmbedder,
	probeProvider,
} from '../models/index.ts';
import { createNetwork, type Network } from '../net/index.ts';
import { findRecognitionPackages } from '../pool/index.ts';
import { openThesauri } from '../thesauri/index.ts';
import { alignColumns, type Command } from './command.ts';
import { checkDataFolder } from './data-folder-checks.ts';
import { type Finding, failed, failedWith, passed } from './finding.ts';
import { checkPostgres } from './postgres-checks.ts';

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

/** Whether TLS is possible with the files; none without TLS. */
function checkTls(settings: Settings): Finding[] {
	const subject = 'certificate';
	const files = tlsFiles(settings);
	if (files === null) return [];
	const renewal = 'Renew it, then send SIGHUP to the server.';
	try {
		const certificate = readCertificate(files);
		const now = systemClock.now();
		const problem = validityProblem(certificate, now);
		if (problem !== null) {
			const isTooEarly = now < certificate.validFrom.getTime();
			return [
				failed(subject, problem, isTooEarly ? 'Check the clock of this machine, or use another certificate.' : renewal),
			];
		}
		const message = `It is for ${certificate.names}, until ${certificate.validTo.toISOString()}.`;
		if (certificate.validTo.getTime() - now >= MIN_CERTIFICATE_MS) return [passed(subject, message)];
		return [failed(subject, `${message} That is in less than 14 days`, renewal)];
	} catch (error) {
		const remedy = 'Set PARLEY_TLS_CERT to a certificate in PEM, and PARLEY_TLS_KEY to its private key.';
		return [failed(subject, messageOf(error), remedy)];
	}
}

/** Whether assistants without a model get one. */
function checkDefaultModel(settings: Settings, network: Network): Finding {
	const subject = 'default model';
	try {
		const providers = createProviders(settings.providers, { network, clock: systemClock, log: createLog('silent') });
		const { defaultModel } = createModels({ defaultModel: settings.default_model, providers });
		return passed(subject, `It is ${defaultModel}.`);
	} catch (error) {
		return failed(subject, messageOf(error), 'Correct PARLEY_DEFAULT_MODEL, or add the model to PARLEY_PROVIDERS.');
	}
}

/** The packages for text recognition, if it is configured. */
function checkRecognition({ ocr, ocr_dir }: Settings): Finding[] {
	if (ocr === undefined) return [];
	const subject = 'text recognition';
	const found = findRecognitionPackages(ocr, ocr_dir);
	if ('problem' in found) return [failedWith(subject, found.problem)];
	const languages = found.recognition.languages.map(({ code }) => code).join(', ');
	return [passed(subject, `tesseract.js ${found.version} with ${languages}, in ${found.folder}.`)];
}

/** The thesauri, if any are configured. */
async function checkThesauri({ thesauri: folders }: Settings): Promise<Finding[]> {
	if (folders.length === 0) return [];
	const subject = 'thesauri';
	try {
		await using thesauri = await openThesauri(folders);
		return thesauri.loaded.map(({ language, file, size }) => {
			return passed(subject, `${size} words of ${language}, in ${file}.`);
		});
	} catch (error) {
		return [failed(subject, messageOf(error), 'Install the thesaurus again, or correct PARLEY_THESAURI.')];
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
	return ofProbe(`provider ${provider.id}`, await probeProvider(provider, configuredModel, dependencies));
}

/** Whether the configured embedder can make vectors. */
async function checkEmbedderReachable({ embedder: id, providers }: Settings, network: Network): Promise<Finding> {
	const dependencies = { network, clock: systemClock, log: createLog('silent') };
	const configured = createEmbedders(id, providers, dependencies).resolve(id);
	// The settings are refused without its provider.
	if (configured === null) throw new Error(`The embedder ${id} has no provider.`);
	return ofProbe('embedder', await probeEmbedder(configured));
}

function ofProbe(subject: string, { sentence, remedy }: ProbeOutcome): Finding {
	return remedy === null ? passed(subject, sentence) : failed(subject, sentence, remedy);
}
