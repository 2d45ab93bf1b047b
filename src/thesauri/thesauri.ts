import { type FileHandle, open, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf } from '../base/index.ts';
import { isContentWord, queryLanguage, stemmerOf, words } from '../text/index.ts';
import { type MyThesIndex, readMyThesEntry, readMyThesIndex } from './mythes-index.ts';

/** `th_de_DE_v2.idx`. */
const INDEX_FILE = /^th_([a-z]{2})_(\w+?)(?:_v2)?\.idx$/;
const MAX_INDEX_BYTES = 64 * 1024 * 1024;
/** An entry of the largest thesaurus of Debian has 9 kB. */
const ENTRY_BYTES = 16 * 1024;
/** Words of a question that are looked up, entries of a word that are read, and synonyms of a word. */
const MAX_WORDS = 20;
const MAX_ENTRIES_OF_WORD = 4;
const MAX_SYNONYMS = 12;
/** Questions in them are not in the language of a thesaurus. */
const OTHER_LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'sv', 'da', 'ja', 'ar'];
/** What the entry of an inflected word may have after its stem: `Garantien`, `Garantie`. */
const ENDINGS = ['', 'e', 'en', 'n', 'er', 'el', 's', 'r', 'ir', 're', 'ar', 'are', 'ere', 'ire', 'o', 'a', 'ion'];

/** A thesaurus in use. */
export interface LoadedThesaurus {
	/** ISO 639-1. */
	language: string;
	/** The path of its index file. */
	file: string;
	/** The number of its words. */
	size: number;
}

/** The synonyms of a word of a question. */
export interface WordSynonyms {
	word: string;
	synonyms: string[];
}

/** The thesauri of the system, by language. */
export interface Thesauri extends AsyncDisposable {
	readonly loaded: readonly LoadedThesaurus[];
	/** The synonyms of the words of a question in its language. None if there is no thesaurus for it, or it cannot be read any more. */
	synonymsOf(question: string): Promise<WordSynonyms[]>;
}

interface Thesaurus extends LoadedThesaurus {
	index: MyThesIndex;
	data: FileHandle;
}

/**
 * Opens the MyThes thesauri of the folders. Only the positions of their entries are in memory; an entry is read from its file
 * when a question has its word. A language has one thesaurus: that of its main country (`de_DE`), else the first one.
 * @throws Error with a sentence that names the folder or file
 */
export async function openThesauri(folders: readonly string[]): Promise<Thesauri> {
	const opened = new Map<string, Thesaurus>();
	try {
		for (const folder of folders) {
			for (const { language, file } of await indexFilesIn(folder)) {
				if (!opened.has(language)) opened.set(language, await openThesaurus(language, file));
			}
		}
	} catch (error) {
		await close(opened);
		throw error;
	}
	return {
		loaded: [...opened.values()].map(({ language, file, size }) => ({ language, file, size })),
		synonymsOf: (question) => synonymsOf(question, opened),
		[Symbol.asyncDispose]: () => close(opened),
	};
}

async function indexFilesIn(folder: string): Promise<Array<{ language: string; file: string }>> {
	let names: string[];
	try {
		names = await readdir(folder);
	} catch (error) {
		throw new Error(`PARLEY_THESAURI names ${folder}, which cannot be read: ${messageOf(error)}`);
	}
	const found = names.flatMap((name) => {
		const [, language, country] = INDEX_FILE.exec(name) ?? [];
		return language === undefined
			? []
			: [{ language, file: join(folder, name), isMain: country === language.toUpperCase() }];
	});
	if (found.length === 0) throw new Error(`PARLEY_THESAURI names ${folder}, which has no thesaurus (th_*.idx).`);
	return found.sort((a, b) => Number(b.isMain) - Number(a.isMain) || a.file.localeCompare(b.file));
}

async function openThesaurus(language: string, file: string): Promise<Thesaurus> {
	// The links of several countries lead to one file, whose data file has its name.
	const target = await realpath(file).catch(() => file);
	try {
		const { size: bytes } = await stat(target);
		if (bytes > MAX_INDEX_BYTES) throw new Error(`has more than ${MAX_INDEX_BYTES} bytes`);
		const index = readMyThesIndex(await readFile(target));
		if (index.size === 0) throw new Error('has no entries');
		const data = await open(file.replace(/\.idx$/, '.dat'), 'r').catch((error) => {
			throw new Error(`has no data file beside it (${messageOf(error)})`);
		});
		return { language, file, size: index.size, index, data };
	} catch (error) {
		throw new Error(`The thesaurus ${basename(file)} of PARLEY_THESAURI cannot be used: it ${messageOf(error)}.`);
	}
}

async function close(thesauri: ReadonlyMap<string, Thesaurus>): Promise<void> {
	await Promise.all([...thesauri.values()].map(({ data }) => data.close()));
}

async function synonymsOf(question: string, thesauri: ReadonlyMap<string, Thesaurus>): Promise<WordSynonyms[]> {
	if (thesauri.size === 0) return [];
	// Of languages whose function words fit equally well, the first one counts.
	const language = queryLanguage(question, [...thesauri.keys(), ...OTHER_LANGUAGES]);
	const thesaurus = thesauri.get(language ?? '');
	if (thesaurus === undefined) return [];
	const content = [...new Set(words(question))].filter((word) => isContentWord(word, language)).slice(0, MAX_WORDS);
	const found = await Promise.all(
		content.map(async (word) => ({ word, synonyms: await lookUp(word, thesaurus).catch(() => []) })),
	);
	return found.filter(({ synonyms }) => synonyms.length > 0);
}

async function lookUp(word: string, { index, data, language }: Thesaurus): Promise<string[]> {
	const stem = stemmerOf(language);
	const synonyms = new Set<string>();
	const forms = new Set([word, ...ENDINGS.map((ending) => stem(word) + ending)]);
	const positions = [...forms].flatMap((form) => index.positionsOf(form)).slice(0, MAX_ENTRIES_OF_WORD);
	for (const position of positions) {
		const { buffer, bytesRead } = await data.read(Buffer.alloc(ENTRY_BYTES), 0, ENTRY_BYTES, position);
		const entry = readMyThesEntry(new TextDecoder(index.encoding).decode(buffer.subarray(0, bytesRead)));
		// Another word may have the hash of its stem.
		if (stem(words(entry.word)[0] ?? '') !== stem(word)) continue;
		for (const synonym of entry.synonyms) synonyms.add(synonym);
	}
	return [...synonyms].slice(0, MAX_SYNONYMS);
}
