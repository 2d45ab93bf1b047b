export { createAllowlist } from './allowlist.ts';
export { Deployments, type DeploymentsOptions, presentDeployment, type VisibleDeployment } from './deployments.ts';
export type { RenderedConfig } from './widget-config.ts';
