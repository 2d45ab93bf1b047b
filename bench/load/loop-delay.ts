import { fileURLToPath } from 'node:url';
import type { ServerProcess } from '../../test/support/server-process.ts';
import { until } from '../../test/support/until.ts';

/** For how long a server's event loop stood still, in milliseconds. */
export interface LoopDelay {
	p99: number;
	max: number;
	/** The longest that its main thread worked at one go, without the time that others had the processors; null where the system does not tell. */
	work: number | null;
	/** In all, that its main thread was ready to run while others had the processors; null likewise. */
	waited: number | null;
}

/** Options of Node for a server whose event loop can be looked at. */
export function loopDelayOptions(): string[] {
	return ['--require', `'${fileURLToPath(new URL('./loop-delay.cjs', import.meta.url))}'`];
}

/** What was seen since it was last asked for. */
export async function loopDelay(server: ServerProcess): Promise<LoopDelay> {
	const reports = () => server.output().match(/loop \{.*\}/g) ?? [];
	const before = reports().length;
	process.kill(server.pid, 'SIGHUP');
	await until('the server has told of its event loop', () => reports().length > before);
	return JSON.parse((reports().at(-1) as string).slice('loop '.length));
}
