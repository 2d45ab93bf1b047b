import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '../../src/base/index.ts';
import { workerEntry } from '../../src/pool/index.ts';
import { openSqliteStore } from '../../src/store/index.ts';
import { startServer } from '../../test/support/server-process.ts';
import { dataSet } from '../load/data-set.ts';
import { deploy } from '../load/deploy.ts';

/** The origin of the page with the widget. */
export const ORIGIN = 'https://shop.example';

/** Settings of each deployment. */
export const DEPLOYMENT = {
	allowed_domains: ['shop.example', '*.shop.example'],
	appearance: {
		greeting: 'Hello! How can I help you?',
		suggested_questions: ['Where is my order?', 'Can I return it?'],
	},
};

/** A data folder with a number of deployments. */
export interface Deployments {
	/** Its data, to be copied before a server runs on it. */
	dataDir: string;
	/** An API key. */
	key: string;
	ids: string[];
}

/** Deployments in one commit. */
const BATCH = 1000;

/** Copies it from the cache of data sets, or creates it. */
export async function deploymentsFolder(count: number): Promise<Deployments> {
	const folder = await dataSet(`deployments-${count}`, [new URL(import.meta.url)], (empty) =>
		createFolder(empty, count),
	);
	const { key, ids } = JSON.parse(await readFile(join(folder, 'facts.json'), 'utf8'));
	return { dataDir: join(folder, 'data'), key, ids };
}

/** Creates one deployment over HTTP, to get a record as the server writes it, and copies of it through the store. */
async function createFolder(folder: string, count: number): Promise<void> {
	const dataDir = join(folder, 'data');
	await mkdir(dataDir);
	const server = await startServer({ dataDir });
	const first = await deploy(server, {}, DEPLOYMENT);
	await server.stop();
	await using store = await openSqliteStore({ dataDir, writer: workerEntry('store') });
	const record = await store.get('deployments', first);
	if (record === undefined) throw new Error('The deployment is not in the store.');
	const ids = [first];
	while (ids.length < count) {
		const more = Array.from({ length: Math.min(BATCH, count - ids.length) }, () => newId('deployment'));
		const write = more.map((id) => ({ op: 'insert', kind: 'deployments', record: { ...record, id } }) as const);
		const { outcome } = await store.commit({ write });
		if (outcome !== 'committed') throw new Error(`The deployments were not stored (${outcome}).`);
		ids.push(...more);
	}
	await writeFile(join(folder, 'facts.json'), JSON.stringify({ key: server.key, ids }));
}
