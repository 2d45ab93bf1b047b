import { words } from '../text/index.ts';

/** Encodings of thesauri that have another name in the Encoding Standard. */
const ENCODINGS: Record<string, string> = {
	'microsoft-cp1251': 'windows-1251',
	'microsoft-cp1252': 'windows-1252',
	'iso8859-1': 'iso-8859-1',
	'iso8859-2': 'iso-8859-2',
	'iso8859-7': 'iso-8859-7',
	'iso8859-15': 'iso-8859-15',
};
const MAX_ENTRIES = 2_000_000;
const ONE_WORD = /^\p{L}[\p{L}\p{M}]*$/u;
const MARKS = /\p{M}/gu;

/** Where the entries of a thesaurus are in its data file, by word. 12 bytes an entry. */
export interface MyThesIndex {
	/** The label of the encoding of both files. */
	encoding: string;
	/** The number of words. */
	size: number;
	/** The positions of the entries of a normalised word; of another one, too, if both have one hash. */
	positionsOf(word: string): number[];
}

/**
 * Reads the index file of a MyThes thesaurus: a line with the encoding, a line with the number of entries, then a line
 * `word|position` for each. Entries of several words are left out.
 * @throws Error with the end of a sentence about the file
 */
export function readMyThesIndex(bytes: Uint8Array): MyThesIndex {
	const start = new TextDecoder('latin1').decode(bytes.subarray(0, 100));
	const encoding = (start.split(/\r?\n/, 1)[0] as string).trim().toLowerCase();
	const label = ENCODINGS[encoding] ?? encoding;
	let decoder: InstanceType<typeof TextDecoder>;
	try {
		decoder = new TextDecoder(label);
	} catch {
		throw new Error(`does not begin with a known encoding: "${encoding.slice(0, 40)}"`);
	}
	const lines = decoder.decode(bytes).split(/\r?\n/);
	const count = Number(lines[1]);
	if (!Number.isInteger(count) || count < 0)
		throw new Error('does not have the number of its entries in the second line');
	if (count > MAX_ENTRIES) throw new Error(`has more than ${MAX_ENTRIES} entries`);
	const entries: Array<[hash: number, position: number]> = [];
	for (const line of lines.slice(2, 2 + count)) {
		const bar = line.lastIndexOf('|');
		const position = Number(line.slice(bar + 1));
		const word = line.slice(0, bar);
		if (bar < 1 || !Number.isSafeInteger(position) || !ONE_WORD.test(word)) continue;
		entries.push([hashOf(normalised(word)), position]);
	}
	entries.sort((a, b) => a[0] - b[0]);
	const hashes = Uint32Array.from(entries, ([hash]) => hash);
	const positions = Float64Array.from(entries, ([, position]) => position);
	return {
		encoding: label,
		size: entries.length,
		positionsOf(word) {
			const hash = hashOf(word);
			const found: number[] = [];
			for (let at = lowerBound(hashes, hash); hashes[at] === hash; at++) found.push(positions[at] as number);
			return found;
		},
	};
}

/**
 * The synonyms of an entry of the data file: a line `word|number of meanings`, then a line `(class)|synonym|synonym …` for each
 * meaning. Synonyms of several words are left out, and remarks in brackets.
 */
export function readMyThesEntry(text: string): { word: string; synonyms: string[] } {
	const [head = '', ...meanings] = text.split(/\r?\n/);
	const [word = '', count] = head.split('|');
	const synonyms = meanings
		.slice(0, Number(count) || 0)
		.flatMap((line) => line.split('|').slice(1))
		.map((synonym) => synonym.replace(/\([^()]*\)/g, ' ').trim())
		.filter((synonym) => synonym !== '' && words(synonym).length === 1);
	return { word, synonyms: [...new Set(synonyms)] };
}

/** As `words` of `src/text` normalises a single word, but much faster. */
function normalised(word: string): string {
	return word.normalize('NFKD').replace(MARKS, '').toLowerCase();
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
	let hash = 0x811c9dc5;
	for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
	return hash >>> 0;
}

function lowerBound(sorted: Uint32Array, value: number): number {
	let from = 0;
	let to = sorted.length;
	while (from < to) {
		const middle = (from + to) >> 1;
		if ((sorted[middle] as number) < value) from = middle + 1;
		else to = middle;
	}
	return from;
}
