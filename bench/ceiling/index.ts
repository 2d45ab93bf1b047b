import { request } from 'node:http';
import { startLoadProcess } from '../load/load-process.ts';
import type { CeilingReady, CeilingResponse } from './process.ts';

/** The process of the bare HTTP library with prepared responses: the upper bound for servers that use it. */
export interface Ceiling extends Disposable {
	readonly pid: number;
	readonly port: number;
}

const START_TIMEOUT_MS = 60_000;

/** Starts it with this response. @param cpu the core to run on */
export async function startCeiling(response: CeilingResponse, cpu?: number): Promise<Ceiling> {
	const child = startLoadProcess<CeilingResponse, CeilingReady>(new URL('./process.ts', import.meta.url), cpu);
	const { port } = await child.send(response, START_TIMEOUT_MS);
	return { pid: child.pid, port, [Symbol.dispose]: () => child[Symbol.dispose]() };
}

/** A server's response to a GET with its headers, for the ceiling to send the same. */
export function captureResponse(port: number, path: string, headers: Record<string, string>): Promise<CeilingResponse> {
	return new Promise((resolve, reject) => {
		const clientRequest = request({ host: '127.0.0.1', port, path, headers, timeout: START_TIMEOUT_MS }, (response) => {
			let body = '';
			response.setEncoding('utf8');
			response.on('data', (piece: string) => {
				body += piece;
			});
			response.on('end', () => {
				const names = response.rawHeaders.filter((_, index) => index % 2 === 0);
				const pairs = names.map((name, index): [string, string] => [
					name,
					response.rawHeaders[index * 2 + 1] as string,
				]);
				resolve({
					status: `${response.statusCode} ${response.statusMessage}`,
					headers: pairs.filter(([name]) => name.toLowerCase() !== 'content-length'),
					body,
				});
			});
		});
		clientRequest.on('timeout', () => clientRequest.destroy(new Error('The server does not respond.')));
		clientRequest.on('error', reject);
		clientRequest.end();
	});
}
