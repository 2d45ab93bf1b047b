import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApiKey } from '../../src/access/index.ts';
import { withDeadline } from '../../src/base/index.ts';

/** How a server process ended. */
export interface Exit {
	code: number | null;
	signal: NodeJS.Signals | null;
}

/** How to start one. */
export interface ServerOptions {
	/** Further environment; undefined takes a variable away. */
	env?: Record<string, string | undefined>;
	/** The data folder of a server before, to be started again; absent: a new one, removed on dispose. */
	dataDir?: string;
	/** The key that goes with `dataDir`. */
	key?: string;
	/** A command that runs the server, such as a tracer; it must keep the process id. */
	wrapperCommand?: string[];
	/** Another than the one under test. */
	program?: Program;
}

/** A running server, as a process of its own. */
export interface ServerProcess extends AsyncDisposable {
	/** For example `http://127.0.0.1:40123`. */
	readonly url: string;
	readonly port: number;
	/** An API key with every scope. */
	readonly key: string;
	readonly dataDir: string;
	readonly pid: number;
	/** Milliseconds from spawning the process to its line that it listens. */
	readonly readyMs: number;
	/** Milliseconds of processor time that the process has taken until then; a busy machine does not lengthen it. 0 outside of Linux. */
	readonly readyCpuMs: number;
	readonly exited: Promise<Exit>;
	/** Everything that it has printed. */
	output(): string;
	/** Asks it to end, with SIGTERM, and waits until it has. */
	stop(): Promise<Exit>;
	/** Ends it with SIGKILL and waits until it is gone. */
	kill(): Promise<Exit>;
	/** A JSON request with the key. Rejects only where no answer came. */
	call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>;
}

/** An answer as tests look at it: `body` is the parsed JSON. */
export interface ApiResponse {
	status: number;
	headers: Headers;
	// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind
	body: any;
}

/** The server under test: how it is run, and what its environment needs besides the settings. */
export interface Program {
	command: string;
	/** Before those of the server. */
	args: string[];
	env: Record<string, string>;
}

const build = fileURLToPath(new URL('../../.build/', import.meta.url));

/** The built server on this Node; or the one file that `PARLEY_BINARY` names, as `npm run test:binary` does. */
export const program: Program =
	process.env.PARLEY_BINARY === undefined
		? { command: process.execPath, args: [join(build, 'main.js')], env: {} }
		: { command: process.env.PARLEY_BINARY, args: [], env: { PARLEY_CACHE_DIR: join(build, 'cache') } };

const START_DEADLINE_MS = 120_000;
const STOP_DEADLINE_MS = 45_000;

/** Starts the server on a free port and waits until it listens. */
export async function startServer(options: ServerOptions = {}): Promise<ServerProcess> {
	const { command, args, env } = options.program ?? program;
	if (![command, ...args].every(existsSync)) {
		throw new Error('The server is not built: run "npm run build", or the tests by "npm test".');
	}
	const ownFolder = options.dataDir === undefined;
	const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'parley-process-')));
	const key = options.key ?? keyOf(createApiKey());
	const [first = '', ...others] = [...(options.wrapperCommand ?? []), command, ...args, 'serve'];
	const startedAt = performance.now();
	const child = spawn(first, others, {
		// Not the project's folder: a settings file there is not the tests' business.
		cwd: dataDir,
		env: environment({
			PARLEY_HOST: '127.0.0.1',
			PARLEY_PORT: '0',
			PARLEY_DATA_DIR: dataDir,
			PARLEY_API_KEY: key,
			PARLEY_RATE_LIMIT: '0',
			PARLEY_LOG_LEVEL: 'warn',
			...env,
			...options.env,
		}),
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const killOnExit = () => child.kill('SIGKILL');
	process.once('exit', killOnExit);
	let output = '';
	const exited = new Promise<Exit>((resolve, reject) => {
		child.on('error', reject);
		child.on('close', (code, signal) => {
			process.off('exit', killOnExit);
			resolve({ code, signal });
		});
	});
	exited.catch(() => {});
	const collect = (bytes: Buffer) => {
		output += bytes.toString();
	};
	child.stdout.on('data', collect);
	child.stderr.on('data', collect);

	const url = await waitUntilListening(child, exited, () => output).catch(async (error: unknown) => {
		child.kill('SIGKILL');
		await exited.catch(() => {});
		if (ownFolder) await rm(dataDir, { recursive: true, force: true });
		throw error;
	});
	const readyMs = performance.now() - startedAt;
	const end = (signal: NodeJS.Signals) => {
		child.kill(signal);
		return withDeadline(exited, STOP_DEADLINE_MS, () => {
			child.kill('SIGKILL');
			return new Error(`The server did not end within ${STOP_DEADLINE_MS / 1000} s of ${signal}.\n${output}`);
		});
	};
	return {
		url,
		port: Number(new URL(url).port),
		key,
		dataDir,
		pid: child.pid as number,
		readyMs,
		readyCpuMs: cpuMsOf(child.pid as number),
		exited,
		output: () => output,
		stop: () => end('SIGTERM'),
		kill: () => end('SIGKILL'),
		call: (method, path, body, headers = {}) =>
			request(url + path, method, { authorization: `Bearer ${key}`, ...headers }, body),
		async [Symbol.asyncDispose]() {
			await end('SIGKILL');
			if (ownFolder) await rm(dataDir, { recursive: true, force: true });
		},
	};
}

/** The times `utime` and `stime` of proc(5), in hundredths of a second on all architectures of Linux that Node supports. */
function cpuMsOf(pid: number): number {
	try {
		const [utime, stime] = readFileSync(`/proc/${pid}/stat`, 'utf8')
			.replace(/^.*\) /s, '')
			.split(' ')
			.slice(11, 13);
		return (Number(utime) + Number(stime)) * 10;
	} catch {
		return 0;
	}
}

/** A JSON request. Rejects only where no answer came. */
export async function request(
	url: string,
	method: string,
	headers: Record<string, string>,
	body: unknown,
): Promise<ApiResponse> {
	const form = body instanceof FormData;
	const response = await fetch(url, {
		method,
		headers: body === undefined || form ? headers : { 'content-type': 'application/json', ...headers },
		...(body === undefined ? {} : { body: form ? body : JSON.stringify(body) }),
		signal: AbortSignal.timeout(120_000),
	});
	const text = await response.text();
	return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

function keyOf(made: string | { key: string }): string {
	return typeof made === 'string' ? made : made.key;
}

/** This process's environment without Parley's settings, which would reach into the test, and with the given ones. */
function environment(overrides: Record<string, string | undefined>): NodeJS.ProcessEnv {
	const env: NodeJS.ProcessEnv = {};
	for (const [name, value] of Object.entries({ ...process.env, ...overrides })) {
		if (value !== undefined && (!name.startsWith('PARLEY_') || name in overrides)) env[name] = value;
	}
	// The test runner's own, which would make a child report as one of its tests.
	delete env.NODE_TEST_CONTEXT;
	delete env.NODE_OPTIONS;
	return env;
}

/** The address in the line that the server prints when it takes requests. */
function waitUntilListening(child: ChildProcess, exited: Promise<Exit>, printed: () => string): Promise<string> {
	const found = new Promise<string>((resolve, reject) => {
		const check = () => {
			const line = /Parley listens on (https?:\/\/\S+)/.exec(printed());
			if (line?.[1]) resolve(line[1]);
		};
		child.stdout?.on('data', check);
		exited.then(
			({ code, signal }) => reject(new Error(`The server ended at its start (${signal ?? code}).\n${printed()}`)),
			reject,
		);
	});
	return withDeadline(found, START_DEADLINE_MS, () => new Error(`The server does not listen.\n${printed()}`));
}
