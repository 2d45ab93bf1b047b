import * as uWS from 'uWebSockets.js';
import { takeOrders } from '../load/load-process.ts';

/** The bare HTTP library as a process of its own: one prepared answer to whatever is asked. */

/** Told by the parent process: the answer. */
export interface CeilingOrder {
	/** For example `200 OK`. */
	status: string;
	/** Without the length, which the library writes. */
	headers: [name: string, value: string][];
	body: string;
}
export interface CeilingReady {
	port: number;
}

function listen({ status, headers, body }: CeilingOrder): Promise<CeilingReady> {
	const bytes = Buffer.from(body);
	// No header that names the library, as Parley has none.
	(uWS as unknown as { _cfg(setting: string): void })._cfg('silent');
	return new Promise((resolve, reject) => {
		uWS
			.App()
			.any('/*', (res) => {
				res.writeStatus(status);
				for (let at = 0; at < headers.length; at++) {
					const pair = headers[at] as [string, string];
					res.writeHeader(pair[0], pair[1]);
				}
				res.end(bytes);
			})
			.listen('127.0.0.1', 0, (socket) => {
				if (socket) resolve({ port: uWS.us_socket_local_port(socket) });
				else reject(new Error('The ceiling cannot listen.'));
			});
	});
}

takeOrders(listen);
