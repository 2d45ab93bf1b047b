import { readFileSync } from 'node:fs';
import { findProgram } from '../support/programs.ts';
import type { Proxy as ProxyProgram } from './proxies.ts';

/** A certificate and its key; null for a proxy that speaks plain HTTP. */
type Tls = { certificate: string; key: string } | null;

/** An example of deploy/, as a proxy that a test starts. */
export interface DeployedProxy {
	name: string;
	/** Null if it is not installed. */
	program: string | null;
	/** With changes that a test needs: ports, certificate, and `readTimeout` (as `10s`) between two reads. */
	proxy(tls: Tls, readTimeout: string): ProxyProgram;
}

const example = (name: string) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');

const nginx: DeployedProxy = {
	name: 'nginx',
	program: findProgram('nginx'),
	proxy: (tls, readTimeout) => ({
		name: 'nginx',
		program: nginx.program,
		args: (folder) => ['-p', folder, '-e', `${folder}/error.log`, '-c', `${folder}/config`],
		config({ listen, server }, folder) {
			const site = replaceAll(example('nginx.conf'), [
				['127.0.0.1:8080', `127.0.0.1:${server}`],
				['listen 443 ssl http2;', tls === null ? `listen 127.0.0.1:${listen};` : `listen 127.0.0.1:${listen} ssl;`],
				[/^\tssl_certificate .*;$/m, tls === null ? '' : `\tssl_certificate ${tls.certificate};`],
				[/^\tssl_certificate_key .*;$/m, tls === null ? '' : `\tssl_certificate_key ${tls.key};`],
				['proxy_read_timeout 60s;', `proxy_read_timeout ${readTimeout};`],
			]);
			const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
			return `
				daemon off;
				master_process off;
				pid ${folder}/pid;
				events {}
				http {
					access_log off;
					${paths.map((path) => `${path}_temp_path ${folder}/${path};`).join('\n')}
					${site}
				}`;
		},
	}),
};

const caddy: DeployedProxy = {
	name: 'Caddy',
	program: findProgram('caddy'),
	proxy: (tls, readTimeout) => ({
		name: 'Caddy',
		program: caddy.program,
		args: (folder) => ['run', '--adapter', 'caddyfile', '--config', `${folder}/config`],
		env: (folder) => ({ XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }),
		config({ listen, server }) {
			const scheme = tls === null ? 'http' : 'https';
			const addresses = `${scheme}://localhost:${listen}, ${scheme}://127.0.0.1:${listen}`;
			const certificate = tls === null ? '' : `\ttls ${tls.certificate} ${tls.key}\n`;
			const site = replaceAll(example('Caddyfile'), [
				['chat.example.com {\n', `${addresses} {\n${certificate}`],
				[
					'127.0.0.1:8080 {\n',
					`127.0.0.1:${server} {\n\t\ttransport http {\n\t\t\tread_timeout ${readTimeout}\n\t\t}\n`,
				],
			]);
			return `{\n\tadmin off\n\tauto_https off\n\tstorage file_system storage\n}\n${site}`;
		},
	}),
};

/** The examples of deploy/. */
export const DEPLOYED_PROXIES = { nginx, caddy };

/** @throws Error where the example does not have a text exactly once */
function replaceAll(text: string, replacements: ReadonlyArray<[string | RegExp, string]>): string {
	let result = text;
	for (const [from, to] of replacements) {
		if (result.split(from).length !== 2) throw new Error(`The example does not have ${from} once.`);
		result = result.replace(from, to);
	}
	return result;
}
