import { type Logger, pino } from 'pino';
import { LogDestination } from './log-destination.ts';

/** A logger of JSON lines. */
export type Log = Logger;

/** Fields that must never reach a log, at the top level and in objects down to the second level. */
const SECRET_FIELDS = ['authorization', 'cookie', 'password', 'secret', 'key', 'token', 'signing_secret'];
const SECRET_PATHS = ['', '*.', '*.*.'].flatMap((prefix) => SECRET_FIELDS.map((field) => prefix + field));

/** Fields with the text of an error, or several, besides `err`. */
const ERROR_FIELDS = ['error', 'cause', 'causes', 'detail', 'reason', 'problem'];
/** Characters of such a field, or of each of its texts, after it was censored. */
const MAX_ERROR_CHARS = 1_000;
/** Characters that are censored for them. */
const MAX_CENSORED_CHARS = 5_000;
/** More characters than a value has that is censored. */
const MAX_VALUE_CHARS = 500;
/** Levels of causes and fields of a logged error. */
const MAX_ERROR_DEPTH = 5;

/** Shared by all logs of the process, so that lines are not mixed. */
let standardError: LogDestination | undefined;

/**
 * A logger of JSON lines on standard error (standard output is for the output of commands). Lines are written
 * asynchronously, and all of them before the process exits.
 * @param level pino's levels, or `silent`
 * @param censor removes from the text of an error what must not reach a log: services quote requests in their errors
 */
export function createLog(level: string, censor: (text: string) => string = (text) => text): Log {
	standardError ??= new LogDestination(2, (lines) => {
		log.warn({ lines }, 'log lines were lost: standard error was too slow');
	});
	const redact = { paths: SECRET_PATHS, censor: '***' };
	const log: Log = pino({ level, base: null, redact, serializers: errorSerializers(censor) }, standardError);
	return log;
}

/** Serializers of the fields that have the text of an error. */
function errorSerializers(censor: (text: string) => string): Record<string, (value: unknown) => unknown> {
	const censorField = (value: unknown) => censorTexts(value, (text) => beginningOf(text, censor), 1);
	const fields = Object.fromEntries(ERROR_FIELDS.map((field) => [field, censorField]));
	return { ...fields, err: (value) => censorTexts(pino.stdSerializers.err(value as Error), censor, MAX_ERROR_DEPTH) };
}

/**
 * Bounds the text of an error for a field of the log, which censors and cuts it. Do not cut it shorter before: half of an address would not
 * be censored.
 */
export function boundedErrorText(text: string): string {
	return text.slice(0, 2 * MAX_CENSORED_CHARS);
}

/** The beginning of a text. It is censored first, because half of an address or number would not be found. */
function beginningOf(text: string, censor: (text: string) => string): string {
	const censored = censor(text.slice(0, MAX_CENSORED_CHARS));
	// The end has such a half where the text goes on.
	const whole = text.length > MAX_CENSORED_CHARS ? censored.slice(0, -MAX_VALUE_CHARS) : censored;
	return whole.slice(0, MAX_ERROR_CHARS);
}

function censorTexts(value: unknown, censor: (text: string) => string, depth: number): unknown {
	if (typeof value === 'string') return censor(value);
	if (typeof value !== 'object' || value === null || depth === 0) return value;
	if (Array.isArray(value)) return value.map((item) => censorTexts(item, censor, depth - 1));
	return Object.fromEntries(
		Object.entries(value).map(([name, member]) => [name, censorTexts(member, censor, depth - 1)]),
	);
}
