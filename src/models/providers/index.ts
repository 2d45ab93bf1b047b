export type { CircuitState } from './circuit-breaker.ts';
export { createProviders, type ProviderDependencies } from './create-providers.ts';
export { failedProbe, type ProbeOutcome, probeProvider } from './probe.ts';
export type { ModelSettings, ProviderSettings } from './settings.ts';
export { tokensOf } from './tokens.ts';
