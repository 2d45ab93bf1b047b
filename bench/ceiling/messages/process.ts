import { serveCommands } from '../../load/load-process.ts';
import { type MessageCeilingOptions, startMessageCeiling } from './server.ts';

/** The message ceiling as a separate process. */

export interface MessageCeilingReady {
	port: number;
}

serveCommands(
	async (options: MessageCeilingOptions): Promise<MessageCeilingReady> => ({
		port: await startMessageCeiling(options),
	}),
);
