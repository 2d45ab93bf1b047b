import { networkInterfaces } from 'node:os';

/**
 * The addresses of this machine's interfaces, as they are now: also where one is public, this server does not call itself
 * or its neighbours on the same machine. An address that a router outside translates to one of these is not among them.
 */
export function interfaceAddresses(): string[] {
	return Object.values(networkInterfaces()).flatMap((addresses = []) =>
		addresses.map(({ address }) => address.replace(/%.*$/, '')),
	);
}
