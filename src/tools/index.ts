export { completeConfig, mergeConfig, type ToolConfig } from './config.ts';
export { compileParameters } from './parameters.ts';
export { hideSecrets, ToolSecrets } from './tool-secrets.ts';
