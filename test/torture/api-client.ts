import type { ServerProcess } from '../support/server-process.ts';

/** What the clients and the checks need of a server: one process, or a cluster behind its load balancer. */
export type ApiClient = Pick<ServerProcess, 'url' | 'key' | 'call' | 'output'>;
