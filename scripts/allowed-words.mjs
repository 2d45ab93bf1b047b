/**
 * Where a word that check-words.mjs looks for is right.
 * @type {{ file: string, text: string, reason: string }[]}  `text` is a part of the line
 */
export const allowedWords = [];
