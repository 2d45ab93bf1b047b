import { serveCommands } from '../load/load-process.ts';
import { type BaselineOptions, createBaseline } from './server.ts';

/** The conventional server as a separate process. */

/** A command of the parent process. */
export type BaselineCommand = BaselineOptions;
export interface BaselineReady {
	port: number;
}

serveCommands(async (order: BaselineCommand): Promise<BaselineReady> => {
	const url = await createBaseline(order).listen({ host: '127.0.0.1', port: 0 });
	return { port: Number(new URL(url).port) };
});
