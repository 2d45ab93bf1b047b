import { clientNetwork } from '../base/index.ts';

/**
 * Items that wait, taken one of each client after the other (round robin): a client with many waits for its own. Addresses of one IPv6
 * network are one client.
 */
export class ClientTurns<Item> {
	/** The items by client. The client whose turn it is comes first. No set is empty. */
	readonly #clients = new Map<string, Set<Item>>();
	readonly #clientOf = new Map<Item, string>();
	/** Goes through the clients. They are added at the end, so it has not passed any that waits. */
	readonly #order = this.#clients.entries();

	/** The items that wait. */
	get size(): number {
		return this.#clientOf.size;
	}

	/** Adds an item behind those of its client. An item that waits already stays where it is. */
	add(item: Item, clientAddress: string): void {
		if (this.#clientOf.has(item)) return;
		const client = clientNetwork(clientAddress);
		this.#clientOf.set(item, client);
		const own = this.#clients.get(client);
		if (own === undefined) this.#clients.set(client, new Set([item]));
		else own.add(item);
	}

	/** Removes an item, if it waits. */
	remove(item: Item): void {
		const client = this.#clientOf.get(item);
		if (client === undefined) return;
		this.#clientOf.delete(item);
		const own = this.#clients.get(client) as Set<Item>;
		own.delete(item);
		if (own.size === 0) this.#clients.delete(client);
	}

	/** Removes the item whose turn it is, and returns it; undefined if nothing waits. */
	takeNext(): Item | undefined {
		if (this.size === 0) return undefined;
		const [client, own] = this.#order.next().value as [string, Set<Item>];
		const item = own.values().next().value as Item;
		this.remove(item);
		// Its next item comes after one of each other client, those that have come meanwhile included.
		if (own.size > 0) {
			this.#clients.delete(client);
			this.#clients.set(client, own);
		}
		return item;
	}
}
