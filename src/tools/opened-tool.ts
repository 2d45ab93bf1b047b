import type { ToolRecord } from '../store/index.ts';
import type { ToolConfig } from './config.ts';
import { SecretRedactor } from './secret-redactor.ts';
import { ToolFailure } from './tool-failure.ts';
import { ClearedSecretError, type ToolSecrets } from './tool-secrets.ts';

/** A tool's configuration with its secrets, and their redactor. */
export interface OpenedTool<C extends ToolConfig> {
	config: C;
	redactor: SecretRedactor;
}

/**
 * Opens a tool's secrets, for one use.
 * @throws ToolFailure `internal_error` where they cannot be opened
 */
export function openTool<C extends ToolConfig>(secrets: ToolSecrets, tool: ToolRecord): OpenedTool<C> {
	try {
		const config = secrets.open(sealedConfig(tool)) as C;
		return { config, redactor: new SecretRedactor(config) };
	} catch (cause) {
		const sentence = cause instanceof ClearedSecretError ? cause.message : "The tool's stored secret cannot be opened.";
		throw new ToolFailure('internal_error', sentence, { cause });
	}
}

/** A stored configuration. It was completed before it was stored. */
export function sealedConfig<C extends ToolConfig = ToolConfig>({ config }: ToolRecord): C {
	return config as unknown as C;
}
