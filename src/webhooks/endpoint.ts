import { AppError } from '../base/index.ts';
import type { Webhook } from '../contract/index.ts';
import type { Network } from '../net/index.ts';

/**
 * Validates the given fields of an endpoint: the syntax and literal address of its URL (host names are checked at every
 * attempt), and that `*` is the only entry of its events.
 * @throws AppError `invalid_request`, `url_not_allowed`
 */
export function requireEndpoint(
	{ url, events }: Partial<Pick<Webhook, 'url' | 'events'>>,
	network: Pick<Network, 'checkUrl'>,
): void {
	if (url !== undefined) network.checkUrl(url, { httpsOnly: true, path: '/url' });
	if (events && events.length > 1 && events.includes('*')) {
		const message = 'must not contain other types beside "*", which is all types';
		throw new AppError('invalid_request', `/events ${message}.`, { details: [{ path: '/events', message }] });
	}
}
