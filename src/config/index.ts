export { ConfigError, type ConfigSources, loadConfig, processSources } from './load.ts';
export { type LogLevel, SETTINGS, type Settings, SettingsSchema } from './settings.ts';
