import type { SecretBox } from '../base/index.ts';
import { HIDDEN_SECRET, type ToolAuth } from '../contract/index.ts';
import type { ToolConfig } from './config.ts';
import { isSecretHeader } from './headers.ts';
import { refusedAt } from './refusal.ts';

const SEALED_FOR = 'tool secrets';
/** Stands for a secret that was forgotten: no sealed text is empty. */
const FORGOTTEN = '';

/** Makes another value of a secret. */
type Change = (value: string, place: readonly [holder: 'headers' | 'auth', name: string]) => string;

/** The secrets in tools' configurations: sealed where they are stored, hidden where they are shown. */
export class ToolSecrets {
	readonly #box: SecretBox;

	constructor(box: SecretBox) {
		this.#box = box;
	}

	/**
	 * A configuration as it is stored.
	 * @param stored what is stored so far: a secret that says that it is hidden stays as it is there; null: nothing is
	 * @throws AppError `invalid_request` where there is none that could stay
	 */
	seal(config: ToolConfig, stored: ToolConfig | null): ToolConfig {
		return changeSecrets(config, (value, [holder, name]) => {
			if (value !== HIDDEN_SECRET) return this.#box.seal(value, SEALED_FOR);
			const kept = stored && storedSecret(stored, holder, name);
			if (kept) return kept;
			throw refusedAt(
				['config', holder, name],
				`must be the secret itself: none is stored for this host that "${HIDDEN_SECRET}" could leave`,
			);
		});
	}

	/**
	 * A stored configuration as calls need it.
	 * @throws ForgottenSecret
	 * @throws Error where a secret cannot be opened
	 */
	open(stored: ToolConfig): ToolConfig {
		return changeSecrets(stored, (value) => {
			if (value === FORGOTTEN) throw new ForgottenSecret();
			return this.#box.open(value, SEALED_FOR);
		});
	}

	/** Whether every secret that a stored configuration still has can be opened. */
	opens(stored: ToolConfig): boolean {
		try {
			this.open(stored);
			return true;
		} catch (error) {
			return error instanceof ForgottenSecret;
		}
	}
}

/** A secret was forgotten with the key that it was sealed with. */
export class ForgottenSecret extends Error {
	constructor() {
		super("The tool's secret was forgotten when the server's secret key was reset. Set the secret again.");
		this.name = 'ForgottenSecret';
	}
}

/** A stored configuration without its secrets. It cannot be called until they are set again. */
export function forgetSecrets(stored: ToolConfig): ToolConfig {
	return changeSecrets(stored, () => FORGOTTEN);
}

/** A configuration as it is shown. */
export function hideSecrets(config: ToolConfig): ToolConfig {
	return changeSecrets(config, () => HIDDEN_SECRET);
}

function changeSecrets(config: ToolConfig, change: Change): ToolConfig {
	const headers = Object.fromEntries(
		Object.entries(config.headers).map(([name, value]) => [
			name,
			isSecretHeader(name) ? change(value, ['headers', name]) : value,
		]),
	);
	return 'auth' in config ? { ...config, headers, auth: changeAuth(config.auth, change) } : { ...config, headers };
}

function changeAuth(auth: ToolAuth, change: Change): ToolAuth {
	switch (auth.type) {
		case 'none':
			return auth;
		case 'bearer':
			return { ...auth, token: change(auth.token, ['auth', 'token']) };
		case 'basic':
			return { ...auth, password: change(auth.password, ['auth', 'password']) };
		case 'header':
			return { ...auth, value: change(auth.value, ['auth', 'value']) };
	}
}

/** The names of headers are the same in any case. */
function storedSecret(stored: ToolConfig, holder: 'headers' | 'auth', name: string): string | undefined {
	const members: object = holder === 'headers' ? stored.headers : 'auth' in stored ? stored.auth : {};
	return Object.entries(members).find(([other]) => other.toLowerCase() === name.toLowerCase())?.[1];
}
