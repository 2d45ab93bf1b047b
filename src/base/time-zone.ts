/** Platforms also accept offsets such as `+01:00`, which are no names. */
const NAME = /^[A-Za-z][\w+-]*(\/[\w+-]+)*$/;

/** Whether a text is the name of a time zone in the IANA database, as this Node knows it. */
export function isTimeZone(text: string): boolean {
	if (!NAME.test(text)) return false;
	try {
		new Intl.DateTimeFormat('en', { timeZone: text });
		return true;
	} catch {
		return false;
	}
}
