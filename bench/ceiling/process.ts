import * as uWS from 'uWebSockets.js';
import { serveCommands } from '../load/load-process.ts';

/** The bare HTTP library as a process of its own: one prepared answer to whatever is asked. */

/** Told by the parent process: the answer. */
export interface CeilingResponse {
	/** For example `200 OK`. */
	status: string;
	/** Without the length, which the library writes. */
	headers: [name: string, value: string][];
	body: string;
}
export interface CeilingReady {
	port: number;
}

function listen({ status, headers, body }: CeilingResponse): Promise<CeilingReady> {
	const bytes = Buffer.from(body);
	// As cheap as the library can be had: what it would write by itself is left to it, and all headers are one call.
	const [first, ...others] = headers;
	if (status !== '200 OK' || first === undefined) throw new Error('The ceiling answers 200, with headers.');
	const [name, value] = [first[0], first[1] + others.map(([name, value]) => `\r\n${name}: ${value}`).join('')];
	// No header that names the library, as Parley has none.
	(uWS as unknown as { _cfg(setting: string): void })._cfg('silent');
	return new Promise((resolve, reject) => {
		uWS
			.App()
			.any('/*', (res) => {
				res.writeHeader(name, value);
				res.end(bytes);
			})
			.listen('127.0.0.1', 0, (socket) => {
				if (socket) resolve({ port: uWS.us_socket_local_port(socket) });
				else reject(new Error('The ceiling cannot listen.'));
			});
	});
}

serveCommands(listen);
