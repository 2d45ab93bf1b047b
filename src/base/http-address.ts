/** Hosts that stand for every address of a machine. A browser cannot open them. */
const WILDCARD_HOSTS = new Set(['0.0.0.0', '::']);

/** The scheme of a server's address. */
export type HttpScheme = 'http' | 'https';

/** The address of a server: `http://127.0.0.1:8080`. */
export function httpAddress(host: string, port: number, scheme: HttpScheme = 'http'): string {
	return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The address of a server that listens on this host, for a browser on the same machine. */
export function addressOnThisMachine(host: string, port: number, scheme: HttpScheme = 'http'): string {
	return httpAddress(WILDCARD_HOSTS.has(host) ? 'localhost' : host, port, scheme);
}

/** Whether a server that listens on this host is reachable only from the same machine. */
export function isLoopback(host: string): boolean {
	return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
