/**
 * The tokens between turns in chat templates. A model server that interprets them inside a text would see a turn of the
 * conversation end there. ChatML, Llama, Phi; DeepSeek; Gemma, Llama 2, Mistral.
 */
const CHAT_TEMPLATE_TOKENS = [
	/<(?=\|[^|<>\n]{1,40}\|>)/g,
	/<(?=｜[^｜<>\n]{1,40}｜>)/g,
	/<(?=\/?(?:start_of_turn|end_of_turn|bos|eos|s)>)/gi,
	/<(?=<\/?SYS>>)/gi,
	/\[(?=\/?INST\])/gi,
];

/** The delimiters of the blocks in prompts, with any spacing. */
const PASSAGES_DELIMITER = /<(?=[\s/]*passages\b)/gi;

/** Invisible characters, which could give a model text that no person sees: controls, directions, tags. */
const INVISIBLE_CHARACTERS =
	// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are what the expression removes
	/[\u0000-\u0008\u000e-\u001f\u007f\u202a-\u202e\u2066-\u2069\u{e0001}\u{e0020}-\u{e007f}]/gu;

/** Every character that a reader may interpret as the end of a line. */
const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;

/**
 * A text that does not come from the operator, made safe for a model: in anything that looks like the end of a turn or of a
 * block, the first character becomes an HTML reference. Other text is unchanged.
 */
export function sanitise(text: string): string {
	let sanitised = text.replace(INVISIBLE_CHARACTERS, '').replace(PASSAGES_DELIMITER, '&lt;');
	for (const mark of CHAT_TEMPLATE_TOKENS)
		sanitised = sanitised.replace(mark, (found) => (found === '[' ? '&#91;' : '&lt;'));
	return sanitised;
}

/** The sanitised text as a quotation: each line begins with `> `, so that none can have another meaning. */
export function quoteLines(text: string): string {
	return sanitise(text)
		.split(LINE_END)
		.map((line) => `> ${line}`)
		.join('\n');
}

/** The sanitised text on one line. */
export function sanitiseLine(text: string, maxChars: number): string {
	const line = sanitise(text)
		.replace(/\s+/g, ' ')
		.replace(/\u0085/g, ' ')
		.trim();
	return line.length > maxChars ? `${line.slice(0, maxChars)}…` : line;
}
