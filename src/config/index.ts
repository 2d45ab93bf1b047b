export { ConfigError, type ConfigSources, loadConfig, processSources } from './load.ts';
export type { ModelSettings, ProviderSettings, ProviderType } from './providers.ts';
export { type LogLevel, SETTINGS, type Settings, SettingsSchema } from './settings.ts';
