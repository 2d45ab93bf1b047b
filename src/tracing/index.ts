import type { Log } from '../base/index.ts';
import { readTracingSettings } from './environment.ts';
import type { Tracing } from './tracing.ts';

export type { Tracing } from './tracing.ts';

/**
 * Opens the export of traces, if OpenTelemetry's variables ask for it. Its library is loaded only then.
 * @returns null if traces are off
 * @throws ConfigError for a value that this server does not support
 */
export async function openTracing(
	env: Record<string, string | undefined>,
	options: { version: string; log: Log },
): Promise<Tracing | null> {
	const settings = readTracingSettings(env);
	if (settings === null) return null;
	const { Tracing } = await import('./tracing.ts');
	return new Tracing(settings, options);
}
