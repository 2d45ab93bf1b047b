import { AppError, addressOnThisMachine, messageOf } from '../base/index.ts';
import { schemeOf } from '../config/index.ts';
import { createNetwork } from '../net/index.ts';
import type { Command } from './command.ts';

/** Time limit for the response of the server (ms). */
const TIMEOUT_MS = 4_000;

const healthcheck: Command = {
	name: 'healthcheck',
	summary: 'check that the server on this machine runs; exits with 1 when it does not (for containers)',
	async run(invocation) {
		const settings = invocation.settings();
		const { host, port } = settings;
		if (port === 0) throw new AppError('unavailable', 'With port 0 each start takes another port. Set PARLEY_PORT.');
		await using network = createNetwork({ allowPrivateNetwork: false });
		const address = addressOnThisMachine(host, port, schemeOf(settings));
		// The certificate is for the public name and not for this address.
		const server = network.serviceClient(address, { timeoutMs: TIMEOUT_MS, acceptsAnyCertificate: true });
		const status = await server.fetch(`${address}/healthz`).then(
			async (response) => {
				await response.body?.cancel();
				return response.status;
			},
			(cause: unknown) => {
				throw new AppError('unavailable', messageOf(cause), { cause });
			},
		);
		if (status !== 200) throw new AppError('unavailable', `${address}/healthz responded with status ${status}.`);
		invocation.print(`${address} is alive.`);
	},
};

/** The command for health checks of containers. */
export const healthcheckCommands = [healthcheck];
