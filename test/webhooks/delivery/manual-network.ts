import type { Network, PostOutcome } from '../../../src/net/index.ts';
import { until } from '../../support/until.ts';

/** One attempt, running or ended. */
export interface Post {
	url: string;
	/** The event's. */
	event: string;
	body: string;
	ended: boolean;
	/** Whether the caller gave it up. */
	aborted: boolean;
	/** Answers it. */
	end(outcome?: Partial<PostOutcome>): void;
}

/** What the receivers answer where the test does not. */
type AutoResponse = (post: Post) => Partial<PostOutcome> | undefined;

const ACCEPTED: PostOutcome = { status: 204, headers: {}, body: '', duration_ms: 1, error: null };

/** What an attempt comes to that fails. */
export const SERVER_ERROR: Partial<PostOutcome> = { status: 500, body: 'No.' };
export const NO_RESPONSE: Partial<PostOutcome> = { status: null, error: 'No response within 5 seconds.' };
/** The same, and it took that long. */
export const TIMED_OUT: Partial<PostOutcome> = { ...NO_RESPONSE, duration_ms: 5_000 };

/** A network in the test's hands: every post waits until the test ends it, unless `answer` does at once. */
export class ManualNetwork implements Pick<Network, 'post'> {
	/** In the order in which they were begun. */
	readonly posts: Post[] = [];
	respond: AutoResponse = () => undefined;

	readonly post: Network['post'] = (url, { headers, body, signal }) =>
		new Promise<PostOutcome>((resolve, reject) => {
			const post: Post = {
				url,
				event: headers['webhook-id'] as string,
				body: String(body),
				ended: false,
				aborted: false,
				end(outcome = {}) {
					post.ended = true;
					resolve({ ...ACCEPTED, ...outcome });
				},
			};
			this.posts.push(post);
			signal?.addEventListener('abort', () => {
				post.aborted = true;
				reject(signal.reason);
			});
			const answer = this.respond(post);
			if (answer) post.end(answer);
		});

	/** Those that no one has answered yet. */
	inFlight(url?: string): Post[] {
		return this.posts.filter((post) => !post.ended && !post.aborted && (url === undefined || post.url === url));
	}

	/** The post with this number, from 0, once it was begun. */
	nthPost(number: number): Promise<Post> {
		return until(`post ${number} was begun`, () => this.posts[number]);
	}
}
