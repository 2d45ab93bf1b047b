import { type Logger, pino } from 'pino';
import { LogDestination } from './log-destination.ts';

export type Log = Logger;

/** Fields that must never reach a log: of what is logged itself, and of objects in it down to the second level. */
const SECRET_FIELDS = ['authorization', 'cookie', 'password', 'secret', 'key', 'token', 'signing_secret'];
const SECRET_PATHS = ['', '*.', '*.*.'].flatMap((prefix) => SECRET_FIELDS.map((field) => prefix + field));

/** One for all logs of the process: lines of two must not be mixed. */
let standardError: LogDestination | undefined;

/**
 * A logger of JSON lines on standard error (standard output belongs to the commands' own answers). Lines are written beside
 * the work, and all of them before the process exits.
 * @param level pino's levels, or `silent`
 */
export function createLog(level: string): Log {
	standardError ??= new LogDestination(2, (lines) => {
		log.warn({ lines }, 'lines of the log were lost: standard error did not take them fast enough');
	});
	const log: Log = pino({ level, base: null, redact: { paths: SECRET_PATHS, censor: '***' } }, standardError);
	return log;
}
