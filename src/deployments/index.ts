export { createAllowlist } from './allowlist.ts';
export { Deployments, type DeploymentsOptions, presentDeployment, type VisibleDeployment } from './deployments.ts';
export type { TokenSettings } from './token-settings.ts';
export { visitorKey } from './visitor-key.ts';
export type { RenderedConfig } from './widget-config.ts';
