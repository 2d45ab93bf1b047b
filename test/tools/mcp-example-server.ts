import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { tcpServer } from '../net/servers.ts';
import { until } from '../support/until.ts';

const script = fileURLToPath(import.meta.resolve('@modelcontextprotocol/sdk/examples/server/simpleStreamableHttp.js'));

/** The MCP project's own example server, as a process of its own. */
export interface ExampleServer extends AsyncDisposable {
	url: string;
	output(): string;
	end(): Promise<void>;
}

/** A port without a listener so far. */
export async function freePort(): Promise<number> {
	const { port, [Symbol.asyncDispose]: close } = await tcpServer(() => {});
	await close();
	return port;
}

/** Starts it on a port, and waits until it listens. */
export async function exampleServer(port: number): Promise<ExampleServer> {
	let output = '';
	const child: ChildProcess = spawn(process.execPath, [script], {
		env: { ...process.env, MCP_PORT: String(port) },
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => (output += text));
	const exited = once(child, 'exit');
	const end = async () => {
		child.kill('SIGKILL');
		await exited;
	};
	await until('the example server listens', () => {
		assert.equal(child.exitCode, null, output);
		return output.includes(`listening on port ${port}`);
	});
	return { url: `http://127.0.0.1:${port}/mcp`, output: () => output, end, [Symbol.asyncDispose]: end };
}
