import { type Logger, pino } from 'pino';

export type Log = Logger;

/** Fields that must never reach a log, wherever they stand in what is logged. */
const SECRET_FIELDS = ['authorization', 'cookie', 'password', 'secret', 'key', 'token', 'signing_secret'];

/**
 * A logger of JSON lines on standard error (standard output belongs to the commands' own answers).
 * @param level pino's levels, or `silent`
 */
export function createLog(level: string): Log {
	return pino(
		{ level, base: null, redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '***' } },
		pino.destination({ fd: 2, sync: false }),
	);
}
