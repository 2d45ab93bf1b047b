import { networkInterfaces } from 'node:os';

/**
 * The current addresses of this machine's interfaces. The server never connects to itself or to another service on the same
 * machine, even if the address is public. An address that an outside router translates to one of these is not known here.
 */
export function interfaceAddresses(): string[] {
	return Object.values(networkInterfaces()).flatMap((addresses = []) =>
		addresses.map(({ address }) => address.replace(/%.*$/, '')),
	);
}
