export type { ArgumentCheckRunner } from './argument-validator.ts';
export { completeConfig, mergeConfig, type ToolConfig } from './config.ts';
export { sealedConfig } from './opened-tool.ts';
export { compileParameters } from './parameters/index.ts';
export type { ToolTrial } from './tool-caller.ts';
export type { ToolCallContext, ToolErrorCode, ToolFunction, ToolOutcome } from './tool-function.ts';
export { clearSecrets, redactSecrets, ToolSecrets } from './tool-secrets.ts';
export { type OfferedFunction, Tools, type ToolsOptions, type ToolTimeouts } from './tools.ts';
