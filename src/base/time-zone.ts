/** Platforms also accept offsets such as `+01:00`, which are no names. */
const NAME = /^[A-Za-z][\w+-]*(\/[\w+-]+)*$/;

/** Whether a text is the name of a time zone in the IANA database, as this Node knows it, in the spelling of the database. */
export function isTimeZone(text: string): boolean {
	if (!NAME.test(text)) return false;
	try {
		const known = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
		// Of an alias, the platform gives another name: `Asia/Calcutta` for `Asia/Kolkata`. Each part of an alias begins with a capital.
		return (
			known === text || (known.toLowerCase() !== text.toLowerCase() && /^(?:[A-Z][\w+-]*\/)*[A-Z][\w+-]*$/.test(text))
		);
	} catch {
		return false;
	}
}
