import { fileURLToPath } from 'node:url';
import type { ServerProcess } from '../../test/support/server-process.ts';
import { until } from '../../test/support/until.ts';

/** Stalls of a server's event loop, in milliseconds. */
export interface LoopDelay {
	p99: number;
	max: number;
	/** Longest uninterrupted work of the main thread, without the time that others used the cores; null on systems without these figures. */
	work: number | null;
	/** Total time that the main thread was ready to run while others used the cores; null likewise. */
	waited: number | null;
}

/** Node options for a server whose event loop is measured. */
export function loopDelayOptions(): string[] {
	return ['--require', `'${fileURLToPath(new URL('./loop-delay.cjs', import.meta.url))}'`];
}

/** The stalls since the last call. */
export async function loopDelay(server: ServerProcess): Promise<LoopDelay> {
	const reports = () => server.output().match(/loop \{.*\}/g) ?? [];
	const before = reports().length;
	process.kill(server.pid, 'SIGHUP');
	await until('the server has told of its event loop', () => reports().length > before);
	return JSON.parse((reports().at(-1) as string).slice('loop '.length));
}
