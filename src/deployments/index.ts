export { createAllowlist } from './allowlist.ts';
export { Deployments, type DeploymentsOptions, presentDeployment } from './deployments.ts';
export { checkOrigin } from './origin-check.ts';
export type { TokenSettings } from './token-settings.ts';
export type { VisibleDeployment } from './visible-deployment.ts';
export { visitorAccount } from './visitor-account.ts';
export { visitorKey } from './visitor-key.ts';
export type { StreamVisit, VisitorStream } from './visitor-streams.ts';
export type { RenderedConfig } from './widget-config.ts';
