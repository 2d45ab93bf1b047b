import * as uWS from 'uWebSockets.js';
import { serveCommands } from '../load/load-process.ts';

/** The bare HTTP library as a separate process: one prepared response to every request. */

/** The response, from the parent process. */
export interface CeilingResponse {
	/** For example `200 OK`. */
	status: string;
	/** Without Content-Length, which the library writes. */
	headers: [name: string, value: string][];
	body: string;
}
export interface CeilingReady {
	port: number;
}

function listen({ status, headers, body }: CeilingResponse): Promise<CeilingReady> {
	const bytes = Buffer.from(body);
	// The cheapest use of the library: it writes its own headers itself, and all others are one call.
	const [first, ...others] = headers;
	if (status !== '200 OK' || first === undefined) throw new Error('The ceiling answers 200, with headers.');
	const [name, value] = [first[0], first[1] + others.map(([name, value]) => `\r\n${name}: ${value}`).join('')];
	// No header that names the library, as in Parley.
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
