import { type ServerProcess, startServer } from '../../test/support/server-process.ts';
import { startBaseline } from '../baseline/index.ts';
import { captureResponse, startCeiling } from '../ceiling/index.ts';
import { pin, SERVER_CPU } from '../load/cores.ts';
import { copyOf } from '../load/data-set.ts';
import { deploy } from '../load/deploy.ts';
import { inspectable } from '../load/memory.ts';
import type { ServerName } from '../report/figure.ts';
import { DEPLOYMENT, type Deployments, deploymentsFolder, ORIGIN } from './deployments.ts';

/** The servers that are compared. */
export type ConfigServer = Exclude<ServerName, 'early ceiling'>;

/** A server that answers requests for the widget's configuration, on the servers' core. */
export interface ServerUnderTest {
	who: ConfigServer;
	pid: number;
	port: number;
	/** Paths to request in turn. */
	paths: string[];
}

/** Parley with a number of deployments in its database, all of which are requested. */
export interface ParleyUnderTest extends ServerUnderTest, AsyncDisposable {
	server: ServerProcess;
}

const pathOf = (deployment: string) => `/api/v1/widget/config?deployment_id=${deployment}`;

/** Starts Parley. @param nodeOptions for example to write a CPU profile */
export async function startParley(count: number, nodeOptions: string[] = []): Promise<ParleyUnderTest> {
	const { dataDir, key, ids }: Deployments = await deploymentsFolder(count);
	const copy = await copyOf(dataDir);
	const env = { PARLEY_TRUSTED_PROXIES: '127.0.0.1' };
	const options = { dataDir: copy.folder, key, env, wrapperCommand: inspectable(...nodeOptions) };
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
export async function startConventional(folder: string): Promise<ServerUnderTest & Disposable> {
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

/** Starts the bare library with the response of another server. */
export async function startBareLibrary(model: ServerUnderTest): Promise<ServerUnderTest & Disposable> {
	const path = model.paths[0] as string;
	const response = await captureResponse(model.port, path, { origin: ORIGIN });
	const ceiling = await startCeiling(response, SERVER_CPU);
	return {
		who: 'ceiling',
		pid: ceiling.pid,
		port: ceiling.port,
		paths: [path],
		[Symbol.dispose]: () => ceiling[Symbol.dispose](),
	};
}
