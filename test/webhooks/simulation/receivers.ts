import type { Network, PostOutcome } from '../../../src/net/index.ts';
import type { Random } from '../../support/random.ts';
import type { FakeTime } from './fake-time.ts';

/** How a receiver behaves for a while. */
export type ReceiverState = 'well' | 'slow' | 'failing' | 'hanging' | 'unreachable' | 'redirecting' | 'busy';

/** One attempt as the receiver saw it. */
export interface Received {
	url: string;
	/** The event's. */
	id: string;
	body: string;
	startedAt: number;
	endedAt: number | null;
	delivered: boolean;
	/** How much longer it asked us to wait. */
	retryAfterMs: number;
}

const HOUR = 3_600_000;
const TIMEOUT_MS = 5_000;

/** All receivers of the simulation, each with a behaviour that changes as the script says. */
export class Receivers {
	readonly received: Received[] = [];
	readonly #time: FakeTime;
	readonly #random: Random;
	readonly #states = new Map<string, { from: number; mood: ReceiverState }[]>();

	constructor(time: FakeTime, random: Random) {
		this.#time = time;
		this.#random = random;
	}

	/** A receiver whose mood changes now and then for so many hours; after that it is well, or never was. */
	add(url: string, hours: number): void {
		const start = this.#time.now();
		if (this.#random.chance(0.15)) {
			this.#states.set(url, [{ from: start, mood: this.#random.pick(['failing', 'hanging', 'unreachable']) }]);
			return;
		}
		const moods: { from: number; mood: ReceiverState }[] = [{ from: start, mood: 'well' }];
		for (let at = start; at < start + hours * HOUR; at += this.#random.between(1, 30 * 60) * 60_000) {
			moods.push({
				from: at,
				mood: this.#random.pick([
					'well',
					'well',
					'well',
					'slow',
					'failing',
					'hanging',
					'unreachable',
					'redirecting',
					'busy',
				]),
			});
		}
		moods.push({ from: start + hours * HOUR, mood: 'well' });
		this.#states.set(url, moods);
	}

	/** The network of one process; after `crash` it gets no responses. */
	network(hasCrashed: () => boolean): Pick<Network, 'post'> {
		return {
			post: (url, { headers, body, signal }) =>
				new Promise<PostOutcome>((resolve, reject) => {
					const startedAt = this.#time.now();
					const { after, answer } = this.#respond(url);
					const retryAfter = answer.headers['retry-after'];
					const attempt: Received = {
						url,
						id: headers['webhook-id'] as string,
						body: String(body),
						startedAt,
						endedAt: null,
						delivered: false,
						retryAfterMs: retryAfter === undefined ? 0 : Number(retryAfter) * 1_000,
					};
					this.received.push(attempt);
					this.#time.at(startedAt + after, () => {
						attempt.delivered = answer.status === 200;
						attempt.endedAt = this.#time.now();
						if (hasCrashed()) return;
						if (signal?.aborted) reject(signal.reason);
						else resolve({ ...answer, duration_ms: after });
					});
				}),
		};
	}

	#respond(url: string): { after: number; answer: Omit<PostOutcome, 'duration_ms'> } {
		const now = this.#time.now();
		const mood = this.#states.get(url)?.findLast(({ from }) => from <= now)?.mood ?? 'well';
		const soon = this.#random.between(1, 300);
		const status = (code: number, headers: Record<string, string> = {}) => ({
			after: soon,
			answer: { status: code, headers, body: 'as you say', error: null },
		});
		switch (mood) {
			case 'well':
				return this.#random.chance(0.05) ? status(500) : status(200);
			case 'slow':
				return { ...status(200), after: this.#random.between(1_000, TIMEOUT_MS - 1) };
			case 'failing':
				return status(this.#random.pick([400, 404, 410, 500, 502, 503]));
			case 'redirecting':
				return status(301, { location: 'https://elsewhere.example/' });
			case 'busy':
				return status(429, { 'retry-after': String(this.#random.between(1, 100_000)) });
			case 'hanging':
				return {
					after: TIMEOUT_MS,
					answer: { status: null, headers: {}, body: '', error: 'No response within 5 seconds.' },
				};
			case 'unreachable':
				return { after: soon, answer: { status: null, headers: {}, body: '', error: 'Could not connect.' } };
		}
	}
}
