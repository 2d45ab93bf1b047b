import type { App } from './app.ts';
import { AppError, lowerRuntimeThreadsPriority, messageOf, version, withDeadline } from './base/index.ts';
import {
	commands,
	findCommand,
	runCommand,
	terminalLines,
	terminalText,
	UsageError,
	usageOf,
} from './commands/index.ts';
import { ConfigError, loadConfig, processSources, type Settings, schemeOf } from './config/index.ts';

const USAGE = `parley: a self-hosted assistant platform

Usage: parley [command]

Commands:
  serve
      start the server (the default)
${commands.map((command) => `  ${usageOf(command)}\n      ${command.summary}\n`).join('')}
Options:
  --help           this text; after a command, the usage of that command
  --version        the version

The commands work beside a running server, and without one, unless they say "stop the server first". Settings come from the environment (PARLEY_*) or from
parley.config.json; docs/configuration.md of the project lists them.
`;

/** Milliseconds that running replies may take to end after a signal to stop. */
const DRAIN_MS = 30_000;
/** Milliseconds that stopping may take in total: less than supervisors are configured to wait. */
const STOP_MS = 42_000;
const NOT_STOPPED = 'it takes too long. The disk may not respond. All acknowledged changes are on disk.';

/** Runs a command. Returns its exit code, or null for a command that runs until a signal ends it. */
async function main(args: string[]): Promise<number | null> {
	// Only the owner can read what is written, also in an existing data folder that is open to others.
	process.umask(0o077);
	// Names are untrusted: a terminal must show them and not interpret their control characters.
	const print = (line: string) => void process.stdout.write(`${terminalText(line)}\n`);
	const printInfo = (line: string) => void process.stderr.write(`${terminalText(line)}\n`);
	const settings = () => loadConfig(processSources());
	const command = findCommand(commands, args);
	if (args.includes('--help')) {
		process.stdout.write(command ? `parley ${usageOf(command)}\n    ${command.summary}\n` : USAGE);
		return 0;
	}
	if (command) {
		await runCommand(command, args, { settings, print, printInfo });
		await requirePrinted();
		return 0;
	}
	if (args.length === 0 || (args.length === 1 && args[0] === 'serve')) {
		await serve(settings());
		return null;
	}
	if (args.length === 1 && args[0] === '--version') {
		print(version());
		return 0;
	}
	process.stderr.write(`parley: there is no command "${terminalText(args.join(' '))}".\n\n${USAGE}`);
	return 2;
}

async function serve(settings: Settings): Promise<void> {
	lowerRuntimeThreadsPriority();
	const stopSignal = firstStopSignal();
	const reloads = new ReloadSignals(settings);
	// Only here, so that a command does not load the server.
	const { startApp } = await import('./app.ts');
	const app = await startApp(settings, {
		console: {
			isTerminal: process.stdout.isTTY === true,
			printsKey: settings.print_key,
			print: (line) => void process.stdout.write(`${line}\n`),
		},
	});
	reloads.forward(app);
	const key = settings.api_key === undefined ? '$KEY' : '$PARLEY_API_KEY';
	const base = settings.public_url ?? app.url;
	const lines = [
		`Parley listens on ${app.url}`,
		...(!app.isFirstStart && app.isSignInImpossible ? NO_PASSWORD_LINES : []),
		...(settings.demo ? [`Demo:      ${base}/demo`] : []),
		`API docs:  ${base}/api/docs`,
		`Try it:    curl -H "Authorization: Bearer ${key}" ${base}/api/v1/assistants`,
	];
	process.stdout.write(`${lines.join('\n')}\n`);

	stopSignal
		.then(async (name) => {
			process.stdout.write(`${name}: finishing what runs\n`);
			await withDeadline(stop(app), STOP_MS, () => new AppError('unavailable', NOT_STOPPED));
			process.exit(0);
		})
		.catch((error: unknown) => {
			process.stderr.write(`parley: stopping failed: ${terminalLines(messageOf(error))}\n`);
			process.exit(1);
		});
}

async function stop(app: App): Promise<void> {
	await app.drain(DRAIN_MS);
	await app[Symbol.asyncDispose]();
}

/** SIGHUP reloads the certificate. Without one it ends the process, as it does where a terminal closes. */
class ReloadSignals {
	#app: App | null = null;
	#isReceived = false;

	constructor(settings: Settings) {
		if (schemeOf(settings) === 'http') return;
		process.on('SIGHUP', () => {
			if (this.#app === null) this.#isReceived = true;
			else this.#app.reloadCertificate();
		});
	}

	/** From now on signals reload the certificate of this server. A signal during the start counts, too. */
	forward(app: App): void {
		this.#app = app;
		if (this.#isReceived) app.reloadCertificate();
	}
}

/** The first signal to stop, from now on: a signal during the start is not lost, and the server stops once it has started. */
function firstStopSignal(): Promise<NodeJS.Signals> {
	return new Promise((resolve) => {
		let isStopping = false;
		for (const signal of ['SIGTERM', 'SIGINT'] as const) {
			process.on(signal, () => {
				// A second signal ends the process at once.
				if (isStopping) process.exit(1);
				isStopping = true;
				resolve(signal);
			});
		}
	});
}

/** No owner has a password: the first link was not used, or the database is older than users are. */
const NO_PASSWORD_LINES = [
	'Password:  no owner has one. "parley users list" shows the users, "parley users reset-password EMAIL" makes a link;',
	'           "parley users create EMAIL --role owner" creates an owner.',
];

/** The error of the last write to standard output: a full disk, for example. */
let unprinted: NodeJS.ErrnoException | null = null;

// A failed write to standard output must not end the server, in particular not during an orderly shutdown.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
	// The reader has closed the pipe, as `| head` does.
	if (error.code !== 'EPIPE') unprinted = error;
});
process.stderr.on('error', () => {});

/**
 * Checks that a command's output was written: it may be a key that is shown only once.
 * @throws AppError `unavailable` where it was not printed
 */
async function requirePrinted(): Promise<void> {
	// The error arrives a moment after the write.
	await new Promise(setImmediate);
	if (unprinted === null) return;
	const sentence = `The command was carried out, but its answer could not be printed (${unprinted.code}).`;
	throw new AppError('unavailable', sentence, { cause: unprinted });
}

main(process.argv.slice(2)).then(
	(code) => {
		if (code !== null) process.exit(code);
	},
	(error: unknown) => {
		// An error that the operator can resolve is printed as its sentence; a defect with its stack.
		const isWrongUse = error instanceof ConfigError || error instanceof UsageError;
		const isSentence = isWrongUse || error instanceof AppError;
		const said = isSentence || !(error instanceof Error) ? messageOf(error) : (error.stack ?? error.message);
		process.stderr.write(`parley: ${terminalLines(said)}\n`);
		process.exit(isWrongUse ? 2 : 1);
	},
);
