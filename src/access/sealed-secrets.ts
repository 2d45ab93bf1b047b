import type { Kind, ListPosition, Records, Store } from '../store/index.ts';

/** The part of the store that is read to find sealed secrets. */
export type SealedSecretsStore = Pick<Store, 'idempotency' | 'list'>;

/** The format of `SecretBox.seal`: a version, then at least the 28 bytes of nonce and tag in base64url. */
const SEALED_PATTERN = /^v1\.[A-Za-z0-9_-]{38,}$/;
const PAGE = 100;

/** Whether the database holds anything that is sealed with the server's secret key and would be lost with it. */
export async function hasSealedSecrets(store: SealedSecretsStore): Promise<boolean> {
	if (await store.idempotency.hasSealedResponses()) return true;
	// Empty after `parley secrets reset`; otherwise a webhook endpoint always has a secret.
	for await (const { secret } of listAll(store, 'webhooks')) if (secret !== '') return true;
	for await (const { config } of listAll(store, 'tools')) if (holdsSealed(config)) return true;
	for await (const { jwt } of listAll(store, 'deployments')) if (holdsSealed(jwt)) return true;
	for await (const { totp } of listAll(store, 'users')) if (totp !== null) return true;
	return false;
}

function holdsSealed(value: unknown): boolean {
	if (typeof value === 'string') return SEALED_PATTERN.test(value);
	return typeof value === 'object' && value !== null && Object.values(value).some(holdsSealed);
}

async function* listAll<K extends Kind>(store: SealedSecretsStore, kind: K): AsyncGenerator<Records[K]> {
	let after: ListPosition | undefined;
	for (;;) {
		const page = await store.list(kind, { where: {}, after, order: 'asc', limit: PAGE });
		yield* page;
		const last = page.at(-1);
		if (!last || page.length < PAGE) return;
		after = { at: last.created_at, id: last.id };
	}
}
