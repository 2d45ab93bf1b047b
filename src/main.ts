import { parseArgs } from 'node:util';
import { createApiKey, createKey, startApp, version } from './app.ts';
import { AppError, messageOf } from './base/index.ts';
import { ConfigError, loadConfig, processSources, type Settings } from './config/index.ts';

const USAGE = `parley: a self-hosted assistant platform

Usage: parley [command]

Commands:
  serve            start the server (the default)
  keys create      make an API key in the first workspace and print it, also beside a running server
  keys generate    only print a new API key, for PARLEY_API_KEY before the first start

Options:
  --help           this text
  --version        the version

Settings come from the environment (PARLEY_*) or from parley.config.json; the README lists them.
`;

/** How long running replies may take to end after a signal to stop (ms). */
const DRAIN_MS = 30_000;

/** Runs a command; the result is the exit code, or null for one that goes on until a signal ends it. */
async function main(args: string[]): Promise<number | null> {
	const { values, positionals } = parseArgs({
		args,
		allowPositionals: true,
		options: { help: { type: 'boolean' }, version: { type: 'boolean' } },
	});
	if (values.help) {
		process.stdout.write(USAGE);
		return 0;
	}
	if (values.version) {
		process.stdout.write(`${version()}\n`);
		return 0;
	}
	const command = positionals.join(' ') || 'serve';
	switch (command) {
		case 'serve':
			await serve(loadConfig(processSources()));
			return null;
		case 'keys create':
			process.stdout.write(`${await createKey(loadConfig(processSources()), 'From the command line')}\n`);
			return 0;
		case 'keys generate':
			process.stdout.write(`${createApiKey()}\n`);
			return 0;
		default:
			process.stderr.write(`parley: there is no command "${command}".\n\n${USAGE}`);
			return 2;
	}
}

async function serve(settings: Settings): Promise<void> {
	const given = settings.api_key !== undefined;
	let first: string | null = null;
	const app = await startApp(settings, {
		onFirstKey(key) {
			first = key;
			if (!given) process.stdout.write(`API key:   ${key}\n           This key is shown only now. Keep it.\n`);
		},
	});
	const key = given ? '$PARLEY_API_KEY' : (first ?? '$KEY');
	const base = settings.public_url ?? app.url;
	const lines = [
		`Parley listens on ${app.url}`,
		`API docs:  ${base}/api/docs`,
		`Try it:    curl -H "Authorization: Bearer ${key}" ${base}/api/v1/assistants`,
	];
	process.stdout.write(`${lines.join('\n')}\n`);

	let stopping = false;
	const stop = async (signal: string): Promise<void> => {
		// A second signal is from somebody who does not want to wait.
		if (stopping) process.exit(1);
		stopping = true;
		process.stdout.write(`${signal}: finishing what runs\n`);
		await app.drain(DRAIN_MS);
		await app[Symbol.asyncDispose]();
		process.exit(0);
	};
	for (const signal of ['SIGTERM', 'SIGINT'] as const) {
		process.on(signal, () => {
			stop(signal).catch((error: unknown) => {
				process.stderr.write(`parley: stopping failed: ${messageOf(error)}\n`);
				process.exit(1);
			});
		});
	}
}

main(process.argv.slice(2)).then(
	(code) => {
		if (code !== null) process.exit(code);
	},
	(error: unknown) => {
		// What a person can mend gets its sentence alone; a defect shows where it is.
		const isSentence = error instanceof ConfigError || error instanceof AppError;
		process.stderr.write(`parley: ${isSentence || !(error instanceof Error) ? messageOf(error) : error.stack}\n`);
		process.exit(error instanceof ConfigError ? 2 : 1);
	},
);
