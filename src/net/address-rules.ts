import { CidrBlockList, isPublicAddress, isSameAddress } from './address.ts';
import { interfaceAddresses } from './interface-addresses.ts';

/** Which addresses may be connected to. */
export interface AddressRuleOptions {
	/** Allows addresses that are not public. */
	allowPrivateNetwork: boolean;
	/** Addresses and CIDR blocks that are always refused, even if private networks are allowed. */
	refusedNetworks?: readonly string[];
	/** Which addresses are allowed; by default public ones that do not belong to this machine. */
	isAddressAllowed?: (address: string) => boolean;
	/** The addresses of this machine; by default those of its interfaces at the time of the check. */
	interfaceAddresses?: () => string[];
}

/** Makes a check that passes if every address may be connected to. */
export function createAddressRules(options: AddressRuleOptions): (addresses: readonly string[]) => boolean {
	const refusedNetworks = new CidrBlockList(options.refusedNetworks ?? []);
	const readInterfaceAddresses = options.interfaceAddresses ?? interfaceAddresses;

	function arePublicAndNotLocal(addresses: readonly string[]): boolean {
		if (!addresses.every(isPublicAddress)) return false;
		// This call to the system costs more than the rest of the check, so it is made once for all addresses.
		const localAddresses = readInterfaceAddresses();
		return !addresses.some((address) => localAddresses.some((localAddress) => isSameAddress(localAddress, address)));
	}

	return (addresses) => {
		if (addresses.some((address) => refusedNetworks.has(address))) return false;
		if (options.allowPrivateNetwork) return true;
		return options.isAddressAllowed ? addresses.every(options.isAddressAllowed) : arePublicAndNotLocal(addresses);
	};
}
