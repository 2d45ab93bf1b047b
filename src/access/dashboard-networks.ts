import { AppError } from '../base/index.ts';
import { CidrBlockList } from '../net/index.ts';

/** The networks from which people may use the dashboard and its sessions. */
export class DashboardNetworks {
	/** Null: any network. */
	readonly #blocks: CidrBlockList | null;

	/** @param entries IP addresses and CIDR blocks; empty: any network */
	constructor(entries: readonly string[]) {
		this.#blocks = entries.length === 0 ? null : new CidrBlockList(entries);
	}

	/**
	 * An address that is not known is refused.
	 * @param address the client's; empty or undefined if it is not known
	 * @throws AppError `address_not_allowed`
	 */
	requireAllowed(address: string | undefined): void {
		if (this.#blocks === null || (address && this.#blocks.has(address))) return;
		throw new AppError(
			'address_not_allowed',
			`The dashboard cannot be used from your address (${address || 'unknown'}).`,
		);
	}
}
