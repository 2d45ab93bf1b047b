import { getRandomValues } from 'node:crypto';
import { type Clock, SlidingWindowLog } from '../base/index.ts';

/** Keys in a generation fill at most two thirds of its places. */
const PLACES_PER_KEY = 1.5;
/** Instead of the time of a key's only event, where it has more than one. */
const SEVERAL = Number.NaN;

/**
 * Counts events per key in a sliding window, exactly, as `SlidingWindowLimiter` does, for keys most of which come once and never
 * again: one event of a key is a few bytes in an array, nothing that garbage collection would have to look at. Keys live in two
 * generations: when the younger one is full, the older one is forgotten at one go. So it remembers the last `keys` different
 * keys at least, and twice as many at most. A key is known by a hash of 64 bits that nobody outside can foresee.
 */
export class PassingVisitors {
	readonly #clock: Clock;
	readonly #windowMs: number;
	readonly #keys: number;
	#younger: Generation;
	#older: Generation;
	/** Keys of the older generation that are in the younger one, too. */
	#moved = 0;

	constructor(clock: Clock, windowMs: number, keys: number) {
		this.#clock = clock;
		this.#windowMs = windowMs;
		this.#keys = keys;
		const places = 2 ** Math.ceil(Math.log2(keys * PLACES_PER_KEY));
		this.#younger = new Generation(places);
		this.#older = new Generation(places);
	}

	/** Keys that are remembered. */
	get size(): number {
		return this.#younger.size + this.#older.size - this.#moved;
	}

	/**
	 * Counts one event; 0 where it is within the limit, else whole seconds until one is again.
	 * @param group half of the key, as is `member`
	 */
	take(group: string, member: string, limit: number): number {
		hash(group, member);
		const [first, second] = [firstHash, secondHash];
		const now = this.#clock.now();
		let place = this.#younger.find(first, second);
		if (place < 0) {
			if (this.#younger.size >= this.#keys) this.#forget();
			place = this.#younger.add(first, second);
			const before = this.#older.find(first, second);
			if (before < 0) {
				this.#younger.only[place] = now;
				return 0;
			}
			this.#moved++;
			this.#younger.takeOver(place, this.#older, before);
		}
		const wait = this.#times(place, now, limit)?.tryAdd(now, limit) ?? 0;
		return Math.ceil(wait / 1000);
	}

	/** All times of a key; none where the only one before was too long ago, and `now` has taken its place. */
	#times(place: number, now: number, limit: number): SlidingWindowLog | undefined {
		const { only, several } = this.#younger;
		const before = only[place] as number;
		if (Number.isNaN(before)) return several.get(place);
		if (before <= now - this.#windowMs) {
			only[place] = now;
			return undefined;
		}
		const times = new SlidingWindowLog(this.#windowMs);
		// A clock that was set back: it happened at the latest just now.
		times.tryAdd(Math.min(before, now), limit);
		only[place] = SEVERAL;
		several.set(place, times);
		return times;
	}

	#forget(): void {
		const emptied = this.#older;
		emptied.clear();
		this.#older = this.#younger;
		this.#younger = emptied;
		this.#moved = 0;
	}
}

/** Keys by their hashes: open addressing, and no key ever leaves alone. */
class Generation {
	size = 0;
	/** When a key's only event happened (ms), by its place. */
	readonly only: Float64Array;
	/** The events of the others, by place. */
	readonly several = new Map<number, SlidingWindowLog>();
	/** Two for each place; a first one of 0 is nobody's. */
	readonly #hashes: Int32Array;
	readonly #mask: number;

	/** @param places a power of two */
	constructor(places: number) {
		this.only = new Float64Array(places);
		this.#hashes = new Int32Array(2 * places);
		this.#mask = places - 1;
	}

	/** The place of a key; -1 where it is not here. */
	find(first: number, second: number): number {
		const hashes = this.#hashes;
		for (let place = second & this.#mask; hashes[2 * place] !== 0; place = (place + 1) & this.#mask) {
			if (hashes[2 * place] === first && hashes[2 * place + 1] === second) return place;
		}
		return -1;
	}

	/** Gives a key that is not here a place. There must be one left. */
	add(first: number, second: number): number {
		const hashes = this.#hashes;
		let place = second & this.#mask;
		while (hashes[2 * place] !== 0) place = (place + 1) & this.#mask;
		hashes[2 * place] = first;
		hashes[2 * place + 1] = second;
		this.size++;
		return place;
	}

	/** Takes over what another generation knows of a key. */
	takeOver(place: number, other: Generation, from: number): void {
		this.only[place] = other.only[from] as number;
		const times = other.several.get(from);
		if (times) this.several.set(place, times);
	}

	clear(): void {
		this.#hashes.fill(0);
		this.several.clear();
		this.size = 0;
	}
}

const seeds = getRandomValues(new Int32Array(2));
let firstHash = 0;
let secondHash = 0;

/** Sets both hashes of a key, the first of them never 0. Left in variables: an object for each request would show. */
function hash(group: string, member: string): void {
	firstHash = seeds[0] as number;
	secondHash = seeds[1] as number;
	mixIn(group);
	// Where one half ends and the other begins is part of the key.
	mixIn(member, group.length);
	// As MurmurHash3 ends: each bit depends on all others.
	firstHash ^= firstHash >>> 16;
	firstHash = Math.imul(firstHash, 0x85ebca6b) ^ Math.imul(secondHash ^ (secondHash >>> 13), 0xc2b2ae35);
	secondHash ^= secondHash >>> 16;
	secondHash = Math.imul(secondHash, 0x85ebca6b) ^ Math.imul(firstHash ^ (firstHash >>> 13), 0xc2b2ae35);
	firstHash = (firstHash ^ (firstHash >>> 15)) | 0 || 1;
	secondHash = (secondHash ^ (secondHash >>> 15)) | 0;
}

function mixIn(text: string, extra = 0): void {
	let first = firstHash ^ extra;
	let second = secondHash;
	for (let at = 0; at < text.length; at++) {
		const code = text.charCodeAt(at);
		first = Math.imul(first ^ code, 0x9e3779b1);
		second = Math.imul(second ^ code, 0x5f356495);
		first = (first << 13) | (first >>> 19);
		second = (second << 17) | (second >>> 15);
	}
	firstHash = first;
	secondHash = second;
}
