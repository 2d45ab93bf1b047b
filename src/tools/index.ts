export type { ArgumentChecker } from './argument-check.ts';
export { completeConfig, mergeConfig, type ToolConfig } from './config.ts';
export { sealedConfig } from './opened-tool.ts';
export { compileParameters } from './parameters/index.ts';
export type { ToolTrial } from './tool-caller.ts';
export type { ToolErrorCode, ToolFunction, ToolOutcome } from './tool-function.ts';
export { forgetSecrets, hideSecrets, ToolSecrets } from './tool-secrets.ts';
export { type OfferedFunction, Tools, type ToolsOptions, type ToolTimes } from './tools.ts';
