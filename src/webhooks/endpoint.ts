import { AppError } from '../base/index.ts';
import type { Webhook } from '../contract/index.ts';
import type { Network } from '../net/index.ts';

/**
 * Judges what an endpoint is registered with, as far as given: the syntax and literal address of its URL (names are judged
 * at every attempt), and that `*` stands alone among its events.
 * @throws AppError `invalid_request`, `url_not_allowed`
 */
export function requireEndpoint(
	{ url, events }: Partial<Pick<Webhook, 'url' | 'events'>>,
	network: Pick<Network, 'checkUrl'>,
): void {
	if (url !== undefined) network.checkUrl(url, { httpsOnly: true, path: '/url' });
	if (events && events.length > 1 && events.includes('*')) {
		const message = 'must hold "*" alone or not at all: it is all types';
		throw new AppError('invalid_request', `/events ${message}.`, { details: [{ path: '/events', message }] });
	}
}
