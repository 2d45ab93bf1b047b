import { AppError, addressOnThisMachine, messageOf } from '../base/index.ts';
import { createNetwork } from '../net/index.ts';
import type { Command } from './command.ts';

/** Milliseconds that the server may take for its answer. */
const TIMEOUT_MS = 4_000;

const healthcheck: Command = {
	name: 'healthcheck',
	summary: 'ask the server on this machine whether it runs; ends with 1 where it does not (for containers)',
	async run(invocation) {
		const { host, port } = invocation.settings();
		if (port === 0) throw new AppError('unavailable', 'Port 0 is another port at each start. Set PARLEY_PORT.');
		await using network = createNetwork({ allowPrivateNetwork: false });
		const address = addressOnThisMachine(host, port);
		const server = network.serviceClient(address, { timeoutMs: TIMEOUT_MS });
		const status = await server.fetch(`${address}/healthz`).then(
			async (response) => {
				await response.body?.cancel();
				return response.status;
			},
			(cause: unknown) => {
				throw new AppError('unavailable', messageOf(cause), { cause });
			},
		);
		if (status !== 200) throw new AppError('unavailable', `${address}/healthz answered with status ${status}.`);
		invocation.print(`${address} is alive.`);
	},
};

/** The command that supervisors of containers run. */
export const healthcheckCommands = [healthcheck];
