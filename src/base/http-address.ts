/** Hosts that mean every address of a machine: to be listened on, not to be opened. */
const WILDCARD_HOSTS = new Set(['0.0.0.0', '::']);

/** The address of a server: `http://127.0.0.1:8080`. */
export function httpAddress(host: string, port: number): string {
	return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The address at which a browser on the same machine finds a server that listens there. */
export function addressOnThisMachine(host: string, port: number): string {
	return httpAddress(WILDCARD_HOSTS.has(host) ? 'localhost' : host, port);
}

/** Whether only programs of the same machine reach a server that listens on this host. */
export function isLoopback(host: string): boolean {
	return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
