import { fileURLToPath } from 'node:url';
import type { ServerProcess } from '../../test/support/server-process.ts';
import { until } from '../../test/support/until.ts';

/** Memory of a process, in bytes. */
export interface Memory {
	/** Resident memory of the process. */
	rss: number;
	heapUsed: number;
	external: number;
}

/** For `startServer`: a command that runs a server whose memory can be measured, with further Node options. */
export function inspectable(...options: string[]): string[] {
	const settle = fileURLToPath(new URL('./settle.cjs', import.meta.url));
	const node = ['"$0"', '--expose-gc', '--require', `'${settle}'`, ...options, '"$@"'];
	return ['sh', '-c', `exec ${node.join(' ')}`];
}

/** Memory of a server after garbage collection. */
export async function settledMemory(server: ServerProcess): Promise<Memory> {
	const reports = () => server.output().match(/settled \{.*\}/g) ?? [];
	const before = reports().length;
	process.kill(server.pid, 'SIGUSR2');
	await until('the server has collected its garbage', () => reports().length > before);
	const { rss, heapUsed, external } = JSON.parse((reports().at(-1) as string).slice('settled '.length));
	return { rss, heapUsed, external };
}
