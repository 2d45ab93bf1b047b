export { durationMs, isPostgresUrl, listenAddress } from './formats.ts';
export { ConfigError, loadConfig, processSources } from './load.ts';
export type { ModelSettings, ProviderSettings, ProviderType, TokenPrice } from './providers.ts';
export { SETTINGS, type Settings, SettingsSchema, schemeOf, tlsFiles } from './settings.ts';
