/** Words that turn a statement round, in the languages of the widget. */
const NEGATIONS =
	/(?<!\p{L})(?:not|no|never|without|except|none|cannot|\p{L}+n['’]t|nicht|keine?[nmrs]?|nie|niemals|ohne|außer|pas|jamais|sans|sauf|aucune?|sin|nunca|excepto|niet|geen|nooit|zonder|behalve|não|sem|nunca|exceto|non|senza|mai|tranne)(?!\p{L})|ない|ません|禁止|不可|(?<!\p{L})(?:لا|ليس|بدون|لن|غير)(?!\p{L})/iu;

/** Whether a text denies or excepts something. */
export function isNegated(text: string): boolean {
	return NEGATIONS.test(text);
}
