import { grown } from './grown.ts';

const FIRST_TERMS = 1024;
const FIRST_CHARACTERS = 8192;
/** Slots for each term, at least. */
const SLOTS_PER_TERM = 2;
const SPACE = 0x20;
const EMPTY = -1;

/**
 * Numbers the distinct terms of many texts, from 0. It is a hash table over their characters: for a `Map` each occurrence would become
 * a string, which takes longer. The hash is seeded, so that no document can be made of terms with equal hashes.
 */
export class Vocabulary {
	readonly #seed = Math.floor(Math.random() * 2 ** 32);
	readonly #factor = Math.floor(Math.random() * 2 ** 32) | 1;
	#count = 0;
	/** Numbers of terms, at the place of their hash or after it. */
	#slots = new Int32Array(SLOTS_PER_TERM * FIRST_TERMS).fill(EMPTY);
	/** By number. */
	#hashes = new Uint32Array(FIRST_TERMS);
	/** By number: where its characters begin. They end where those of the next begin. */
	#starts = new Uint32Array(FIRST_TERMS + 1);
	#characters = new Uint16Array(FIRST_CHARACTERS);

	/** The number of terms. */
	get size(): number {
		return this.#count;
	}

	/** The memory in bytes. */
	get bytes(): number {
		const arrays = [this.#slots, this.#hashes, this.#starts, this.#characters];
		return arrays.reduce((sum, array) => sum + array.byteLength, 0);
	}

	/** Calls `use` with the number of each term of a text, in order. Terms are separated by spaces; new ones get a number. */
	addAll(text: string, use: (term: number) => void): void {
		let hash = this.#seed;
		let from = 0;
		for (let at = 0; at <= text.length; at++) {
			const character = at < text.length ? text.charCodeAt(at) : SPACE;
			if (character !== SPACE) {
				hash = this.#mix(hash, character);
				continue;
			}
			if (at > from) {
				const slot = this.#slotOf(text, from, at, hash >>> 0);
				const known = this.#slots[slot] as number;
				use(known === EMPTY ? this.#add(text, from, at, hash >>> 0, slot) : known);
			}
			from = at + 1;
			hash = this.#seed;
		}
	}

	/** The number of a term; -1 when it is unknown. */
	find(term: string): number {
		let hash = this.#seed;
		for (let at = 0; at < term.length; at++) hash = this.#mix(hash, term.charCodeAt(at));
		return this.#slots[this.#slotOf(term, 0, term.length, hash >>> 0)] as number;
	}

	/** The term with a number. */
	term(number: number): string {
		return String.fromCharCode(
			...this.#characters.subarray(this.#starts[number] as number, this.#starts[number + 1] as number),
		);
	}

	#mix(hash: number, character: number): number {
		const mixed = Math.imul(hash ^ character, this.#factor);
		return mixed ^ (mixed >>> 15);
	}

	/** The slot that has the term, or the empty one where it belongs. */
	#slotOf(text: string, from: number, to: number, hash: number): number {
		const slots = this.#slots;
		const mask = slots.length - 1;
		for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
			const term = slots[slot] as number;
			if (term === EMPTY || (this.#hashes[term] === hash && this.#isTerm(term, text, from, to))) return slot;
		}
	}

	#isTerm(term: number, text: string, from: number, to: number): boolean {
		const start = this.#starts[term] as number;
		if ((this.#starts[term + 1] as number) - start !== to - from) return false;
		for (let at = from; at < to; at++) {
			if (this.#characters[start + at - from] !== text.charCodeAt(at)) return false;
		}
		return true;
	}

	#add(text: string, from: number, to: number, hash: number, slot: number): number {
		const term = this.#count++;
		if (this.#count === this.#hashes.length) {
			this.#hashes = grown(this.#hashes, this.#count + 1);
			this.#starts = grown(this.#starts, this.#hashes.length + 1);
		}
		const start = this.#starts[term] as number;
		const end = start + to - from;
		if (end > this.#characters.length) this.#characters = grown(this.#characters, end);
		for (let at = from; at < to; at++) this.#characters[start + at - from] = text.charCodeAt(at);
		this.#starts[term + 1] = end;
		this.#hashes[term] = hash;
		this.#slots[slot] = term;
		if (SLOTS_PER_TERM * this.#count > this.#slots.length) this.#growSlots();
		return term;
	}

	#growSlots(): void {
		const slots = new Int32Array(2 * this.#slots.length).fill(EMPTY);
		const mask = slots.length - 1;
		for (let term = 0; term < this.#count; term++) {
			let slot = (this.#hashes[term] as number) & mask;
			while (slots[slot] !== EMPTY) slot = (slot + 1) & mask;
			slots[slot] = term;
		}
		this.#slots = slots;
	}
}
