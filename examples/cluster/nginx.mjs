// nginx in front of the nodes.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { start } from './programs.mjs';

/** Debian's package puts nginx in a folder that is not on the PATH of every user. */
const FOLDERS = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];

/**
 * Starts nginx with nginx.conf of this folder.
 * @param port where it listens
 * @param nodes the ports of the nodes
 */
export function startNginx(folder, port, nodes) {
	const program = FOLDERS.map((path) => join(path, 'nginx')).find(existsSync);
	if (program === undefined) throw new Error('nginx is not installed (Debian: apt-get install nginx-light).');
	// Its workers are of another user where it is started by root.
	mkdirSync(folder, { mode: 0o755 });
	const ports = new Map([8080, 8081, 8082, 8083].map((from, index) => [String(from), [port, ...nodes][index]]));
	const config = readFileSync(new URL('nginx.conf', import.meta.url), 'utf8');
	const path = join(folder, 'nginx.conf');
	writeFileSync(
		path,
		config.replace(/127\.0\.0\.1:(\d+)/g, (_, from) => `127.0.0.1:${ports.get(from)}`),
	);
	return start(program, ['-p', folder, '-e', 'stderr', '-c', path], { onOutput: (text) => process.stderr.write(text) });
}
