/**
 * Where a word that check-words.mjs looks for is right. `text` is a part of the line, with the word in it: other words on that line are reported.
 * @type {{ file: string, text: string, reason: string }[]}
 */
export const allowedWords = [
	{
		file: 'bench/webhooks/figures.ts',
		text: 'beside one that never answers',
		reason: 'The names of figures stay the same, so that results of several versions can be compared.',
	},
];
