import { opensTokenSecret } from '../access/index.ts';
import type { SecretBox } from '../base/index.ts';
import type { Readers, ToolRecord, Write } from '../store/index.ts';
import { forgetSecrets, sealedConfig, ToolSecrets } from '../tools/index.ts';
import { forgottenSecrets, SigningSecrets } from '../webhooks/index.ts';
import { everyOf } from './data-folder.ts';

/** Something whose secret the server's key does not open. */
export interface ClosedThing {
	kind: 'webhook' | 'tool' | 'deployment' | 'stored answers';
	/** Empty for stored answers. */
	id: string;
	name: string;
	/** What a person has to do once it is forgotten. */
	remedy: string;
	/** The change that forgets it. */
	forget(now: number): Write;
}

const DISABLED = 'Its signing secret was forgotten when the secret key was reset. Rotate the secret, then enable it.';

/**
 * What a key does not open, by kind and the oldest first.
 * @param box of the key; null where there is none: it opens nothing
 * @param isKeyOfDatabase whether stored answers were sealed with the key: they are not tried one by one
 */
export async function* closedThings(
	store: Pick<Readers, 'list' | 'hasSealedResponses'>,
	box: SecretBox | null,
	{ isKeyOfDatabase, now }: { isKeyOfDatabase: boolean; now: number },
): AsyncGenerator<ClosedThing> {
	yield* closedWebhooks(store, box, now);
	yield* closedTools(store, box);
	yield* closedDeployments(store, box);
	if (!isKeyOfDatabase && (await store.hasSealedResponses())) {
		yield {
			kind: 'stored answers',
			id: '',
			name: '',
			remedy: 'nothing: a repeat of such a request is carried out as a new one',
			forget: () => ({ op: 'erase_sealed_answers' }),
		};
	}
}

async function* closedWebhooks(
	store: Pick<Readers, 'list'>,
	box: SecretBox | null,
	now: number,
): AsyncGenerator<ClosedThing> {
	for await (const webhook of everyOf(store, 'webhooks', {})) {
		if (box && new SigningSecrets(box).opens(webhook, now)) continue;
		yield {
			kind: 'webhook',
			id: webhook.id,
			name: webhook.url,
			remedy: 'rotate its secret, give it to the receiver, then enable the webhook',
			forget: (at) => ({
				op: 'patch',
				kind: 'webhooks',
				id: webhook.id,
				set: {
					...forgottenSecrets(),
					status: 'disabled',
					disabled_reason: DISABLED,
					updated_at: at,
				},
			}),
		};
	}
}

async function* closedTools(store: Pick<Readers, 'list'>, box: SecretBox | null): AsyncGenerator<ClosedThing> {
	for await (const tool of everyOf(store, 'tools', {})) {
		const config = sealedConfig(tool);
		const forgotten = forgetSecrets(config);
		const isClosed = JSON.stringify(forgotten) !== JSON.stringify(config);
		if (!isClosed || (box && new ToolSecrets(box).opens(config))) continue;
		yield {
			kind: 'tool',
			id: tool.id,
			name: tool.name,
			remedy: 'set its secret headers, token or password again; until then calls fail',
			forget: (at) => ({
				op: 'patch',
				kind: 'tools',
				id: tool.id,
				set: { config: { ...forgotten } as ToolRecord['config'], updated_at: at },
			}),
		};
	}
}

async function* closedDeployments(store: Pick<Readers, 'list'>, box: SecretBox | null): AsyncGenerator<ClosedThing> {
	for await (const { id, name, jwt, features } of everyOf(store, 'deployments', {})) {
		if (jwt === null || jwt.secret === null || (box && opensTokenSecret(jwt, box))) continue;
		const effect = features.jwt_required ? '; until then it refuses all visitors' : '';
		yield {
			kind: 'deployment',
			id,
			name,
			remedy: `set jwt.secret again${effect}`,
			forget: (at) => ({
				op: 'patch',
				kind: 'deployments',
				id,
				set: { jwt: { ...jwt, secret: null }, updated_at: at },
			}),
		};
	}
}
