import { type ServerProcess, startServer } from '../../test/support/server-process.ts';
import { startBaseline } from '../baseline/index.ts';
import { answerOf, startCeiling } from '../ceiling/index.ts';
import { pin, SERVER_CPU } from '../load/cores.ts';
import { copyOf } from '../load/data-set.ts';
import { deploy } from '../load/deploy.ts';
import { inspectable } from '../load/memory.ts';
import type { Who } from '../report/figure.ts';
import { DEPLOYMENT, type Deployments, folderWith, ORIGIN } from './deployments.ts';

/** One that answers requests of the widget's configuration, on the servers' core. */
export interface Contestant {
	who: Who;
	pid: number;
	port: number;
	/** Asked for in turn. */
	paths: string[];
}

/** Parley with so many deployments in its database, all of which are asked for. */
export interface ParleyContestant extends Contestant, AsyncDisposable {
	server: ServerProcess;
}

const pathOf = (deployment: string) => `/api/v1/widget/config?deployment_id=${deployment}`;

/** Starts Parley. @param nodeOptions such as those that write a processor profile */
export async function startParley(count: number, nodeOptions: string[] = []): Promise<ParleyContestant> {
	const { dataDir, key, ids }: Deployments = await folderWith(count);
	const copy = await copyOf(dataDir);
	const env = { PARLEY_TRUSTED_PROXIES: '127.0.0.1' };
	const options = { dataDir: copy.folder, key, env, under: inspectable(...nodeOptions) };
	const server = await startServer(options).catch(async (error: unknown) => {
		await copy[Symbol.asyncDispose]();
		throw error;
	});
	pin(server.pid, SERVER_CPU);
	return {
		who: 'parley',
		pid: server.pid,
		port: server.port,
		paths: ids.map(pathOf),
		server,
		async [Symbol.asyncDispose]() {
			await server[Symbol.asyncDispose]();
			await copy[Symbol.asyncDispose]();
		},
	};
}

/** Starts the conventional server with one such deployment. @param folder for its database */
export async function startConventional(folder: string): Promise<Contestant & Disposable> {
	const baseline = await startBaseline(folder, null, SERVER_CPU);
	const deployment = await deploy(baseline, { model: 'none' }, DEPLOYMENT);
	return {
		who: 'baseline',
		pid: baseline.pid,
		port: baseline.port,
		paths: [pathOf(deployment)],
		[Symbol.dispose]: () => baseline[Symbol.dispose](),
	};
}

/** Starts the bare library with what the other answers. */
export async function startBareLibrary(like: Contestant): Promise<Contestant & Disposable> {
	const path = like.paths[0] as string;
	const answer = await answerOf(like.port, path, { origin: ORIGIN });
	const ceiling = await startCeiling(answer, SERVER_CPU);
	return {
		who: 'ceiling',
		pid: ceiling.pid,
		port: ceiling.port,
		paths: [path],
		[Symbol.dispose]: () => ceiling[Symbol.dispose](),
	};
}
