import { type Logger, pino } from 'pino';

export type Log = Logger;

/** Fields that must never reach a log: of what is logged itself, and of objects in it down to the second level. */
const SECRET_FIELDS = ['authorization', 'cookie', 'password', 'secret', 'key', 'token', 'signing_secret'];
const SECRET_PATHS = ['', '*.', '*.*.'].flatMap((prefix) => SECRET_FIELDS.map((field) => prefix + field));

/**
 * A logger of JSON lines on standard error (standard output belongs to the commands' own answers).
 * @param level pino's levels, or `silent`
 */
export function createLog(level: string): Log {
	return pino(
		{ level, base: null, redact: { paths: SECRET_PATHS, censor: '***' } },
		pino.destination({ fd: 2, sync: false }),
	);
}
