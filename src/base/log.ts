import { type Logger, pino } from 'pino';

export type Log = Logger;

/** Fields that must never reach a log: of what is logged itself, and of objects in it down to the second level. */
const SECRET_FIELDS = ['authorization', 'cookie', 'password', 'secret', 'key', 'token', 'signing_secret'];
const SECRET_PATHS = ['', '*.', '*.*.'].flatMap((prefix) => SECRET_FIELDS.map((field) => prefix + field));

/** What may wait for a reader of standard error. Lines beyond that are lost, and counted. */
const WAITING_BYTES = 16 * 1024 * 1024;

/**
 * A logger of JSON lines on standard error (standard output belongs to the commands' own answers). Lines are written beside
 * the work, and all of them before the process exits.
 * @param level pino's levels, or `silent`
 */
export function createLog(level: string): Log {
	const destination = pino.destination({ fd: 2, sync: false, maxLength: WAITING_BYTES });
	const log = pino({ level, base: null, redact: { paths: SECRET_PATHS, censor: '***' } }, destination);
	let dropped = 0;
	destination.on('drop', () => {
		dropped++;
	});
	destination.on('drain', () => {
		if (dropped === 0) return;
		const lines = dropped;
		dropped = 0;
		log.warn({ lines }, 'lines of the log were lost: standard error was not read fast enough');
	});
	return log;
}
