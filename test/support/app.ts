import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiKey, type DeriveKey, Passwords } from '../../src/access/index.ts';
import { type App, type AppOverrides, startApp } from '../../src/app.ts';
import { createLog } from '../../src/base/index.ts';
import { loadConfig, type Settings } from '../../src/config/index.ts';
import { openSharedWorkerPool } from './shared-worker-pool.ts';

/** A server in this process, on a free port and an empty data folder. */
export interface TestApp extends AsyncDisposable {
	url: string;
	key: string;
	dataDir: string;
	/** Calls the API with the first key; the body goes as JSON, unless it is a form. */
	call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>;
	/** Calls as a visitor's browser would: no key, an Origin. */
	callAsVisitor(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>;
	/** Ends this server and starts another on the same folder. */
	restart(): Promise<TestApp>;
}

export interface ApiResponse {
	status: number;
	headers: Headers;
	/** The parsed JSON body. */
	// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
	body: any;
}

export interface TestAppOptions {
	settings?: Partial<Settings>;
	overrides?: AppOverrides;
	dataDir?: string;
	key?: string;
}

/** The origin that test pages have. */
export const ORIGIN = 'https://shop.example';

/** Replaces the slow hash of passwords in tests that are not about it. */
export const quickDerive: DeriveKey = async (password, salt, bytes) =>
	createHash('sha512').update(salt).update(password).digest().subarray(0, bytes);

/** On a busy machine a search or a list of tools may take long, and a reply would go on without its passages or tools. So may the inbox. */
const INPUT_TIMEOUT_MS = 120_000;

export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
	const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'parley-test-')));
	const key = options.key ?? createApiKey();
	const settings: Settings = {
		...loadConfig({ env: {}, file: join(dataDir, 'no-such-file.json') }),
		port: 0,
		data_dir: dataDir,
		api_key: key,
		rate_limit: 0,
		log_level: 'silent',
		...options.settings,
	};
	const app: App = await startApp(settings, {
		log: createLog('silent'),
		passwords: new Passwords(quickDerive),
		pool: options.overrides?.pool ?? openSharedWorkerPool(),
		searchTimeoutMs: INPUT_TIMEOUT_MS,
		rewriteTimeoutMs: INPUT_TIMEOUT_MS,
		toolListTimeoutMs: INPUT_TIMEOUT_MS,
		inboxFreshnessMs: INPUT_TIMEOUT_MS,
		...options.overrides,
	});

	const call = async (method: string, path: string, body: unknown, headers: Record<string, string>) => {
		const isForm = body instanceof FormData;
		const response = await fetch(app.url + path, {
			method,
			headers: { ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }), ...headers },
			...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
		});
		const text = await response.text();
		return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
	};

	return {
		url: app.url,
		key,
		dataDir,
		call: (method, path, body, headers) => call(method, path, body, { authorization: `Bearer ${key}`, ...headers }),
		callAsVisitor: (method, path, body, headers) => call(method, path, body, { origin: ORIGIN, ...headers }),
		async restart() {
			await app[Symbol.asyncDispose]();
			return startTestApp({ ...options, dataDir, key });
		},
		async [Symbol.asyncDispose]() {
			await app[Symbol.asyncDispose]();
			await rm(dataDir, { recursive: true, force: true });
		},
	};
}
