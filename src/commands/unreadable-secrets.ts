import { canOpenTokenSecret, SecondFactor } from '../access/index.ts';
import type { SecretBox } from '../base/index.ts';
import type { Readers, ToolRecord, Write } from '../store/index.ts';
import { clearSecrets, sealedConfig, ToolSecrets } from '../tools/index.ts';
import { clearedSecrets, SigningSecrets } from '../webhooks/index.ts';
import { listAll } from './data-folder.ts';

/** A record whose secret the server's key cannot decrypt. */
export interface UnreadableSecret {
	kind: 'webhook' | 'tool' | 'deployment' | 'user' | 'stored answers';
	/** Empty for stored responses. */
	id: string;
	name: string;
	/** What the operator has to do once it is removed. */
	remedy: string;
	/** The change that removes it. */
	removalWrite(now: number): Write;
}

const DISABLED_REASON =
	'Its signing secret was removed when the secret key was reset. Rotate the secret, then enable it.';

/**
 * The secrets that a key cannot decrypt, by kind and the oldest first.
 * @param box the box of the key; null without a key, which decrypts nothing
 * @param isKeyOfDatabase whether stored responses were encrypted with the key; they are not tried one by one
 */
export async function* unreadableSecrets(
	store: Pick<Readers, 'idempotency' | 'list'>,
	box: SecretBox | null,
	{ isKeyOfDatabase, now }: { isKeyOfDatabase: boolean; now: number },
): AsyncGenerator<UnreadableSecret> {
	yield* unreadableWebhookSecrets(store, box, now);
	yield* unreadableToolSecrets(store, box);
	yield* unreadableDeploymentSecrets(store, box);
	yield* unreadableTotpSecrets(store, box);
	if (!isKeyOfDatabase && (await store.idempotency.hasSealedResponses())) {
		yield {
			kind: 'stored answers',
			id: '',
			name: '',
			remedy: 'nothing: a repeat of such a request runs as a new one',
			removalWrite: () => ({ op: 'erase_sealed_responses' }),
		};
	}
}

async function* unreadableWebhookSecrets(
	store: Pick<Readers, 'list'>,
	box: SecretBox | null,
	now: number,
): AsyncGenerator<UnreadableSecret> {
	for await (const webhook of listAll(store, 'webhooks', {})) {
		if (box && new SigningSecrets(box).canOpen(webhook, now)) continue;
		yield {
			kind: 'webhook',
			id: webhook.id,
			name: webhook.url,
			remedy: 'rotate its secret, give it to the receiver, then enable the webhook',
			removalWrite: (at) => ({
				op: 'patch',
				kind: 'webhooks',
				id: webhook.id,
				set: {
					...clearedSecrets(),
					status: 'disabled',
					disabled_reason: DISABLED_REASON,
					updated_at: at,
				},
			}),
		};
	}
}

async function* unreadableToolSecrets(
	store: Pick<Readers, 'list'>,
	box: SecretBox | null,
): AsyncGenerator<UnreadableSecret> {
	for await (const tool of listAll(store, 'tools', {})) {
		const config = sealedConfig(tool);
		const cleared = clearSecrets(config);
		const hasSecrets = JSON.stringify(cleared) !== JSON.stringify(config);
		if (!hasSecrets || (box && new ToolSecrets(box).canOpen(config))) continue;
		yield {
			kind: 'tool',
			id: tool.id,
			name: tool.name,
			remedy: 'set its secret headers, token or password again; until then calls fail',
			removalWrite: (at) => ({
				op: 'patch',
				kind: 'tools',
				id: tool.id,
				set: { config: { ...cleared } as ToolRecord['config'], updated_at: at },
			}),
		};
	}
}

async function* unreadableDeploymentSecrets(
	store: Pick<Readers, 'list'>,
	box: SecretBox | null,
): AsyncGenerator<UnreadableSecret> {
	for await (const { id, name, jwt, features } of listAll(store, 'deployments', {})) {
		if (jwt === null || jwt.secret === null || (box && canOpenTokenSecret(jwt, box))) continue;
		const effect = features.jwt_required ? '; until then it refuses all visitors' : '';
		yield {
			kind: 'deployment',
			id,
			name,
			remedy: `set jwt.secret again${effect}`,
			removalWrite: (at) => ({
				op: 'patch',
				kind: 'deployments',
				id,
				set: { jwt: { ...jwt, secret: null }, updated_at: at },
			}),
		};
	}
}

async function* unreadableTotpSecrets(
	store: Pick<Readers, 'list'>,
	box: SecretBox | null,
): AsyncGenerator<UnreadableSecret> {
	for await (const { id, email, totp } of listAll(store, 'users', {})) {
		if (totp === null || (box && new SecondFactor(box).canOpen(totp))) continue;
		yield {
			kind: 'user',
			id,
			name: email,
			remedy: 'the person sets up the second factor again; until then the password alone signs in',
			removalWrite: (at) => ({ op: 'patch', kind: 'users', id, set: { totp: null, updated_at: at } }),
		};
	}
}
