import type { SecretBox } from '../base/index.ts';
import { HIDDEN_SECRET, type ToolAuth } from '../contract/index.ts';
import type { ToolConfig } from './config.ts';
import { isSecretHeader } from './headers.ts';
import { invalidRequestAt } from './invalid-request.ts';

const SEAL_PURPOSE = 'tool secrets';
/** Marks a secret that was cleared: no sealed text is empty. */
const CLEARED = '';

/** Maps a secret to another value. */
type SecretMapper = (value: string, place: readonly [holder: 'headers' | 'auth', name: string]) => string;

/** The secrets in tools' configurations: sealed in the store, hidden in the API. */
export class ToolSecrets {
	readonly #box: SecretBox;

	constructor(box: SecretBox) {
		this.#box = box;
	}

	/**
	 * A configuration for the store.
	 * @param stored the stored configuration, from which hidden secrets are copied; null: there is none
	 * @throws AppError `invalid_request` where a secret is hidden and not stored
	 */
	seal(config: ToolConfig, stored: ToolConfig | null): ToolConfig {
		return mapSecrets(config, (value, [holder, name]) => {
			if (value !== HIDDEN_SECRET) return this.#box.seal(value, SEAL_PURPOSE);
			const kept = stored && storedSecret(stored, holder, name);
			if (kept) return kept;
			throw invalidRequestAt(
				['config', holder, name],
				`must be the secret itself: none is stored for this host that "${HIDDEN_SECRET}" could leave`,
			);
		});
	}

	/**
	 * A stored configuration with its secrets, for calls.
	 * @throws ClearedSecretError
	 * @throws Error where a secret cannot be opened
	 */
	open(stored: ToolConfig): ToolConfig {
		return mapSecrets(stored, (value) => {
			if (value === CLEARED) throw new ClearedSecretError();
			return this.#box.open(value, SEAL_PURPOSE);
		});
	}

	/** Whether every secret that a stored configuration still has can be opened. */
	canOpen(stored: ToolConfig): boolean {
		try {
			this.open(stored);
			return true;
		} catch (error) {
			return error instanceof ClearedSecretError;
		}
	}
}

/** A secret was cleared because the key that sealed it is lost. */
export class ClearedSecretError extends Error {
	constructor() {
		super("The tool's secret was removed when the server's secret key was reset. Set the secret again.");
		this.name = 'ForgottenSecret';
	}
}

/** A stored configuration without its secrets. It cannot be called until they are set again. */
export function clearSecrets(stored: ToolConfig): ToolConfig {
	return mapSecrets(stored, () => CLEARED);
}

/** A configuration for the API. */
export function redactSecrets(config: ToolConfig): ToolConfig {
	return mapSecrets(config, () => HIDDEN_SECRET);
}

function mapSecrets(config: ToolConfig, mapSecret: SecretMapper): ToolConfig {
	const headers = Object.fromEntries(
		Object.entries(config.headers).map(([name, value]) => [
			name,
			isSecretHeader(name) ? mapSecret(value, ['headers', name]) : value,
		]),
	);
	return 'auth' in config
		? { ...config, headers, auth: mapAuthSecrets(config.auth, mapSecret) }
		: { ...config, headers };
}

function mapAuthSecrets(auth: ToolAuth, mapSecret: SecretMapper): ToolAuth {
	switch (auth.type) {
		case 'none':
			return auth;
		case 'bearer':
			return { ...auth, token: mapSecret(auth.token, ['auth', 'token']) };
		case 'basic':
			return { ...auth, password: mapSecret(auth.password, ['auth', 'password']) };
		case 'header':
			return { ...auth, value: mapSecret(auth.value, ['auth', 'value']) };
	}
}

/** Header names are case-insensitive. */
function storedSecret(stored: ToolConfig, holder: 'headers' | 'auth', name: string): string | undefined {
	const members: object = holder === 'headers' ? stored.headers : 'auth' in stored ? stored.auth : {};
	return Object.entries(members).find(([other]) => other.toLowerCase() === name.toLowerCase())?.[1];
}
