import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { commands, findCommand, runCommand } from '../../src/commands/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { startTestApp } from '../support/app.ts';

/** Runs the command against this address; its answer. */
async function healthcheck(host: string, port: number): Promise<string> {
	const command = findCommand(commands, ['healthcheck']) ?? assert.fail('there is no such command');
	const printed: string[] = [];
	await runCommand(command, ['healthcheck'], {
		settings: () => ({ ...loadConfig({ env: {}, file: 'no-such-file.json' }), host, port }),
		print: (line) => printed.push(line),
		printInfo: () => {},
	});
	return printed.join('\n');
}

test('the health check succeeds while the server runs, on any listening address, and fails when it has ended', async () => {
	const app = await startTestApp({ settings: { host: '0.0.0.0' } });
	const port = Number(new URL(app.url).port);
	try {
		assert.match(await healthcheck('127.0.0.1', port), /^http:\/\/127\.0\.0\.1:\d+ is alive\.$/);
		assert.match(await healthcheck('0.0.0.0', port), /^http:\/\/localhost:\d+ is alive\.$/);
	} finally {
		await app[Symbol.asyncDispose]();
	}
	await assert.rejects(healthcheck('127.0.0.1', port), { code: 'unavailable' });
});

test('the health check fails when another program listens, and when the port is unknown', async () => {
	const other = createServer((_request, response) => response.writeHead(404).end());
	await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
	const { port } = other.address() as AddressInfo;
	await assert.rejects(healthcheck('127.0.0.1', port), /healthz responded with status 404\.$/);
	await new Promise((resolve) => other.close(resolve));
	await assert.rejects(healthcheck('127.0.0.1', 0), /Set PARLEY_PORT\.$/);
});
