// Starts a cluster on this machine: PostgreSQL, a slow model, three nodes of Parley, and nginx in front of them. Ctrl-C ends all of it.
//
//   node examples/cluster/start.mjs
//   PARLEY_SECRET_KEY=… node examples/cluster/start.mjs postgres://user:password@host/name
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from '../../scripts/build.mjs';
import { ensureInstalled } from '../../scripts/install.mjs';
import { startNginx } from './nginx.mjs';
import { startNode } from './node.mjs';
import { startPostgres } from './postgres.mjs';
import { freePort, requireFree, until } from './programs.mjs';
import { startSlowModel } from './slow-model.mjs';

const NODES = 3;
const [database, ...others] = process.argv.slice(2);
if (others.length > 0 || (database !== undefined && !/^postgres(ql)?:/.test(database))) {
	console.error('Usage: [PORT=8080] node examples/cluster/start.mjs [postgres://user:password@host/name]');
	process.exit(2);
}
if (database !== undefined && !process.env.PARLEY_SECRET_KEY) {
	console.error('Set PARLEY_SECRET_KEY (openssl rand -base64 32): the database can be used with the same key only.');
	process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'parley-cluster-'));
// PostgreSQL and the workers of nginx have their folders in it, and may run as other users.
chmodSync(folder, 0o711);
/** What was started, in order. */
const started = [];
/** Resolves once a signal asks for the end. */
const stopped = new Promise((resolve) => {
	for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, resolve);
});

try {
	await Promise.race([startAll(), stopped]);
	await stopped;
} catch (error) {
	console.error(error.message);
	process.exitCode = 1;
} finally {
	console.log('Stopping …');
	// nginx first, so that no request finds a node that has ended; the nodes together, before the database.
	for (const group of started.reverse()) {
		// What did not start has said so.
		await Promise.allSettled(group.map(async (starting) => (await starting).stop()));
	}
	rmSync(folder, { recursive: true, force: true });
	process.exit();
}

async function startAll() {
	await ensureInstalled();
	await ensureBuilt();
	const port = Number(process.env.PORT ?? 8080) || (await freePort());
	await requireFree(port);
	const url = `http://127.0.0.1:${port}`;
	const postgres = database === undefined ? await use(startPostgres(join(folder, 'postgres'))) : null;
	const providers = process.env.PARLEY_PROVIDERS ?? (await slowProvider());
	const settings = {
		PARLEY_DATABASE_URL: database ?? postgres.url,
		PARLEY_SECRET_KEY: process.env.PARLEY_SECRET_KEY ?? randomBytes(32).toString('base64'),
		PARLEY_PROVIDERS: providers,
		PARLEY_HOST: '127.0.0.1',
		PARLEY_PUBLIC_URL: url,
		PARLEY_TRUSTED_PROXIES: '127.0.0.1',
		PARLEY_DEMO: '1',
		SLOW_MODEL_KEY: 'sk-no-key-is-needed-here',
	};
	const names = Array.from({ length: NODES }, (_, index) => `node ${index + 1}`);
	const folders = names.map((name) => join(folder, name.replace(' ', '-')));
	const starting = names.map((name, index) => startNode(name, folders[index], settings));
	started.push(starting);
	const nodes = await Promise.all(starting);
	await use(
		startNginx(
			join(folder, 'nginx'),
			port,
			nodes.map((node) => node.port),
		),
	);
	await until('nginx passes requests on', () =>
		fetch(`${url}/readyz`).then(
			({ ok }) => ok,
			() => false,
		),
	);
	await printAccess(url, folders);
}

/** Remembers to stop something. */
async function use(starting) {
	started.push([starting]);
	return starting;
}

async function slowProvider() {
	const { url } = await use(startSlowModel());
	const provider = { id: 'slow', type: 'openai-compatible', base_url: url, api_key_env: 'SLOW_MODEL_KEY' };
	return JSON.stringify([provider]);
}

/** Prints where the chat is, and how to sign in. On a new database it makes an assistant first. */
async function printAccess(url, folders) {
	const notice = folders.map((path) => join(path, 'first-start.txt')).find(existsSync);
	console.log(`\nThe cluster is at ${url}`);
	if (notice !== undefined) {
		const text = readFileSync(notice, 'utf8');
		const key = process.env.PARLEY_API_KEY ?? /sk_\w+/.exec(text)[0];
		const deployment = await makeDeployment(url, key);
		console.log(`${text.replace(/\n\nDelete this file.*\n/, '')}\nChat:      ${url}/demo?deployment_id=${deployment}`);
	}
	console.log('Ctrl-C ends everything.');
}

async function makeDeployment(url, key) {
	const create = async (path, body) => {
		const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
		const response = await fetch(`${url}/api/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
		const made = await response.json();
		if (!response.ok) throw new Error(`POST /api/v1/${path}: ${made.error.message}`);
		return made.id;
	};
	const model = process.env.PARLEY_PROVIDERS === undefined ? { model: 'slow/slow' } : {};
	const assistant_id = await create('assistants', { name: 'Cluster example', ...model });
	return create('deployments', { assistant_id });
}
