/** An e-mail address within a text. The parts are bounded, so that matching takes linear time. */
const EMAIL = /[^\s@<>()[\]{},;:"'|]{1,64}@[^\s@<>()[\]{},;:"'|]{1,180}/u;
const DOMAIN = /^[^.].*\.[\p{L}\p{N}-]{2,}$/u;
/** A longer message says something else too. */
const MAX_MESSAGE_CHARS = 160;

/** The e-mail address that a visitor leaves by a short message, such as "ada@example.com, thanks"; null: the message has none. */
export function emailLeftIn(message: string): string | null {
	if (message.length > MAX_MESSAGE_CHARS || /[?？؟]/.test(message)) return null;
	const email = EMAIL.exec(message)?.[0].replace(/[.!]+$/, '');
	if (email === undefined) return null;
	return DOMAIN.test(email.slice(email.indexOf('@') + 1)) ? email : null;
}
