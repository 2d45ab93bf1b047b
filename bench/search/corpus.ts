import { analyse } from '../../src/text/index.ts';
import { pick, seeded } from './random.ts';

/** Size of the vocabulary, as in a company's documents. */
const VOCABULARY = 30_000;
const TOPICS = 240;
/** Words that are typical of a topic. */
const TOPIC_WORDS = 250;
/** Share of the content words that come from the chunk's topic. */
const TOPIC_SHARE = 0.5;
const WORDS_PER_CHUNK = [180, 260] as const;
const LANGUAGE = 'en';

/** The most frequent English words, most frequent first: nearly half of every text, and of every question. */
const FUNCTION_WORDS =
	`the of and to a in is it you that he was for on are with as i his they be at one have this from or had by
	but some what there we can out other were all your when up use how said an each she which do their if will way about
	many then them would like so these her long make see him two has more go no could my than been who its now find may
	down did get come made part over new take only work know place years me back give most very after our just name good`.split(
		/\s+/,
	);
/** Beginnings of questions. */
const QUESTIONS = [
	'how do i * the * of *',
	'what is the * for * and *',
	'can i * my * after the *',
	'where do i find * about *',
	'why is the * * not *',
	'which * can be * with *',
	'* * *',
	'when will the * of my * be *',
	'how long does * take with * * and *',
	'is there a * for * in *',
];

/** The text of a chunk and its index terms. */
export interface GeneratedChunk {
	text: string;
	body_terms: string;
}

/** A document of several chunks on one topic. */
export interface GeneratedDocument {
	title: string;
	title_terms: string;
	chunks: GeneratedChunk[];
}

/**
 * Texts in invented words with the frequencies of natural language (Zipf's law) and with topics. The generated texts are the same on
 * every machine, and as hard to search as real text of their size.
 */
export class Corpus {
	readonly #random: () => number;
	readonly #words: string[];
	/** The index term of each word, from the analyser. */
	readonly #terms: string[];
	/** The words of each topic, most frequent first. */
	readonly #topics: number[][];
	readonly #anyWord: Zipf;
	readonly #topicWord: Zipf;

	constructor(seed: number) {
		const random = seeded(seed);
		this.#random = random;
		this.#words = vocabulary(random);
		this.#terms = this.#words.map((word) => analyse(word, LANGUAGE)[0] ?? word);
		this.#anyWord = new Zipf(VOCABULARY);
		this.#topicWord = new Zipf(TOPIC_WORDS);
		const contentWords = VOCABULARY - FUNCTION_WORDS.length;
		this.#topics = Array.from({ length: TOPICS }, () =>
			Array.from({ length: TOPIC_WORDS }, () => FUNCTION_WORDS.length + Math.floor(random() * contentWords)),
		);
	}

	document(chunks: number): GeneratedDocument {
		const topic = pick(this.#topics, this.#random);
		const title = Array.from({ length: 4 }, () => this.#topicWordIndex(topic));
		return {
			title: this.#text(title),
			title_terms: this.#termsOf(title),
			chunks: Array.from({ length: chunks }, () => {
				const [least, most] = WORDS_PER_CHUNK;
				const length = least + Math.floor(this.#random() * (most - least));
				const words = Array.from({ length }, () => this.#word(topic));
				return { text: this.#text(words), body_terms: this.#termsOf(words) };
			}),
		};
	}

	/** A question of five to twelve words, about one topic. */
	question(): string {
		const topic = pick(this.#topics, this.#random);
		const template = pick(QUESTIONS, this.#random);
		return template.replaceAll('*', () => this.#words[this.#topicWordIndex(topic)] as string);
	}

	#word(topic: readonly number[]): number {
		const word = this.#anyWord.draw(this.#random);
		const isContentWord = word >= FUNCTION_WORDS.length;
		return isContentWord && this.#random() < TOPIC_SHARE ? this.#topicWordIndex(topic) : word;
	}

	#topicWordIndex(topic: readonly number[]): number {
		return topic[this.#topicWord.draw(this.#random)] as number;
	}

	#text(words: readonly number[]): string {
		return words.map((word) => this.#words[word]).join(' ');
	}

	#termsOf(words: readonly number[]): string {
		return words.map((word) => this.#terms[word]).join(' ');
	}
}

/** Random ranks from 0, with a probability inverse to the rank. */
class Zipf {
	readonly #sums: Float64Array;

	constructor(ranks: number) {
		this.#sums = new Float64Array(ranks);
		let sum = 0;
		for (let rank = 0; rank < ranks; rank++) {
			sum += 1 / (rank + 1);
			this.#sums[rank] = sum;
		}
	}

	draw(random: () => number): number {
		const sums = this.#sums;
		const wanted = random() * (sums.at(-1) as number);
		let from = 0;
		let to = sums.length - 1;
		while (from < to) {
			const middle = (from + to) >> 1;
			if ((sums[middle] as number) < wanted) from = middle + 1;
			else to = middle;
		}
		return from;
	}
}

const ONSETS = [
	'b',
	'br',
	'c',
	'cl',
	'd',
	'f',
	'g',
	'gr',
	'h',
	'k',
	'l',
	'm',
	'n',
	'p',
	'pl',
	'r',
	's',
	'st',
	't',
	'tr',
	'v',
];
const VOWELS = ['a', 'e', 'i', 'o', 'u', 'ea', 'ou'];
const ENDINGS = ['', '', 'n', 'r', 'st', 'ing', 'ed', 's', 'er', 'ment', 'ation'];

function vocabulary(random: () => number): string[] {
	const words = new Set(FUNCTION_WORDS);
	while (words.size < VOCABULARY) {
		let word = '';
		for (let syllables = 2 + Math.floor(random() * 2); syllables > 0; syllables--) {
			word += pick(ONSETS, random) + pick(VOWELS, random);
		}
		words.add(word + pick(ENDINGS, random));
	}
	return [...words];
}
