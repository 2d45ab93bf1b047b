import { type Logger, pino } from 'pino';
import { LogDestination } from './log-destination.ts';

/** A logger of JSON lines. */
export type Log = Logger;

/** Fields that must never reach a log, at the top level and in objects down to the second level. */
const SECRET_FIELDS = ['authorization', 'cookie', 'password', 'secret', 'key', 'token', 'signing_secret'];
const SECRET_PATHS = ['', '*.', '*.*.'].flatMap((prefix) => SECRET_FIELDS.map((field) => prefix + field));

/** Shared by all logs of the process, so that lines are not mixed. */
let standardError: LogDestination | undefined;

/**
 * A logger of JSON lines on standard error (standard output is for the output of commands). Lines are written
 * asynchronously, and all of them before the process exits.
 * @param level pino's levels, or `silent`
 */
export function createLog(level: string): Log {
	standardError ??= new LogDestination(2, (lines) => {
		log.warn({ lines }, 'log lines were lost: standard error was too slow');
	});
	const log: Log = pino({ level, base: null, redact: { paths: SECRET_PATHS, censor: '***' } }, standardError);
	return log;
}
