import { Agent, type Dispatcher } from 'undici';
import { type Download, type DownloadOptions, download } from './download.ts';
import { createGuard, type GuardOptions, type UrlRules } from './guard.ts';
import { type PostOptions, type PostOutcome, post } from './post.ts';

/** The one way out of this server. */
export interface Network extends AsyncDisposable {
	/**
	 * Judges what can be told of a URL without asking the network.
	 * @throws AppError `url_not_allowed`
	 */
	checkUrl(url: string, rules?: UrlRules): URL;
	/**
	 * Fetches a file.
	 * @throws AppError `url_not_allowed` (the guard) or `unreadable_file` (everything else)
	 */
	download(url: string, options?: DownloadOptions): Promise<Download>;
	/** Sends a POST, once; whatever comes of it, no answer included, is its outcome. Rejects only as its signal says. */
	post(url: string, options: PostOptions): Promise<PostOutcome>;
	/**
	 * For undici's own functions. Connects to judged addresses only, whatever it is given; schemes and redirects are the
	 * user's part (`request` follows none).
	 */
	readonly dispatcher: Dispatcher;
}

const CONNECTIONS_PER_ORIGIN = 8;

/** Opens the way out; disposal ends every connection. */
export function createNetwork(options: GuardOptions): Network {
	const guard = createGuard(options);
	const agent = new Agent({ connect: guard.connect, connections: CONNECTIONS_PER_ORIGIN, pipelining: 1 });
	return {
		checkUrl: guard.checkUrl,
		download: (url, rules) => download(guard, agent, url, rules),
		post: (url, options) => post(guard, agent, url, options),
		dispatcher: agent,
		[Symbol.asyncDispose]: () => agent.destroy(),
	};
}
