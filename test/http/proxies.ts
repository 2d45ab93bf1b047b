import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePort, isListening } from '../support/listening.ts';
import { findProgram } from '../support/programs.ts';
import { until } from '../support/until.ts';

/** A reverse proxy that tests can put in front of a server. */
export interface Proxy {
	name: string;
	/** Null if it is not installed. */
	program: string | null;
	/** Arguments of the program, which runs in its own folder with the file `config`. */
	args(folder: string): string[];
	/** Further environment. */
	env?(folder: string): Record<string, string>;
	config(ports: { listen: number; server: number }, folder: string): string;
}

const ATTEMPTS = 3;

/** Both keep their connections to the server open and stream bodies. */
export const PROXIES: Proxy[] = [
	{
		name: 'nginx',
		program: findProgram('nginx'),
		args: (folder) => ['-p', folder, '-e', join(folder, 'error.log'), '-c', join(folder, 'config')],
		config: ({ listen, server }, folder) => `
			daemon off;
			master_process off;
			pid ${folder}/pid;
			events {}
			http {
				access_log off;
				client_body_temp_path ${folder}/body;
				proxy_temp_path ${folder}/proxy;
				fastcgi_temp_path ${folder}/fastcgi;
				uwsgi_temp_path ${folder}/uwsgi;
				scgi_temp_path ${folder}/scgi;
				upstream parley { server 127.0.0.1:${server}; keepalive 4; }
				server {
					listen 127.0.0.1:${listen};
					location / {
						proxy_pass http://parley;
						proxy_http_version 1.1;
						proxy_set_header Connection "";
						proxy_request_buffering off;
					}
				}
			}`,
	},
	{
		name: 'HAProxy',
		program: findProgram('haproxy'),
		args: (folder) => ['-db', '-f', join(folder, 'config')],
		config: ({ listen, server }) => `
global
	maxconn 100
defaults
	mode http
	timeout connect 10s
	timeout client 30s
	timeout server 30s
	http-reuse always
frontend front
	bind 127.0.0.1:${listen}
	default_backend parley
backend parley
	server one 127.0.0.1:${server}
`,
	},
];

/** Starts a proxy in front of a server and stops it with the test. Resolves with its port. */
export async function startProxy(t: TestContext, proxy: Proxy, server: number): Promise<number> {
	for (let attempt = 1; ; attempt++) {
		const listen = await freePort();
		const folder = await mkdtemp(join(tmpdir(), 'parley-proxy-'));
		await writeFile(join(folder, 'config'), proxy.config({ listen, server }, folder));
		const child = spawn(proxy.program as string, proxy.args(folder), {
			cwd: folder,
			env: { ...process.env, ...proxy.env?.(folder) },
			stdio: ['ignore', 'ignore', 'pipe'],
		});
		let output = '';
		child.stderr.on('data', (bytes: Buffer) => {
			output += bytes.toString();
		});
		let ended = false;
		const exited = new Promise<void>((resolve) => {
			child.on('error', () => resolve());
			child.on('close', () => resolve());
		}).then(() => {
			ended = true;
		});
		t.after(async () => {
			child.kill('SIGKILL');
			await exited;
			await rm(folder, { recursive: true, force: true });
		});
		await until(`${proxy.name} listens or has ended`, async () => ended || (await isListening(listen)));
		if (!ended) return listen;
		// Another program may have taken the port in the meantime.
		if (attempt === ATTEMPTS) throw new Error(`${proxy.name} did not start.\n${output}`);
	}
}
