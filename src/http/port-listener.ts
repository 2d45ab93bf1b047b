import type * as uWS from 'uWebSockets.js';
import type { TlsFiles } from '../base/index.ts';

/** The library's exports, including those that its types omit. */
type UwsLibrary = typeof uWS & { _cfg(setting: string): void; LIBUS_LISTEN_EXCLUSIVE_PORT: number };

/** Methods of an app that the types of the package omit. */
interface AppMethods {
	listen(
		host: string,
		port: number,
		options: number,
		onListen: (socket: uWS.us_listen_socket | false) => void,
	): uWS.TemplatedApp;
	/** Identifies the app for the two methods below. */
	getDescriptor(): number;
	/** From now on, the connections that this app accepts go to the added apps, to each in turn. */
	addChildAppDescriptor(descriptor: number): void;
	removeChildAppDescriptor(descriptor: number): void;
}

type UwsApp = uWS.TemplatedApp & AppMethods;

/** The library gives no cause. */
const CANNOT_LISTEN =
	'the port is taken, this user may not use it (below 1024), or this machine does not have the address.';
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * Listens on one port, over TLS if there are files for it.
 *
 * An app of the library has one certificate for its whole life. So a new certificate gets a new app. The first app keeps the
 * port and hands each connection that it accepts to the newest app. Connections of older apps continue, and no client
 * finds the port closed. Old apps stay until the end: a connection may still be on its way to one.
 */
export class PortListener {
	readonly #library: UwsLibrary;
	readonly #tls: TlsFiles | null;
	readonly #addRoutes: (app: uWS.TemplatedApp) => void;
	/** The first one listens, the last one takes new connections. */
	readonly #apps: UwsApp[] = [];
	/** Null while it does not listen. */
	#socket: uWS.us_listen_socket | null = null;

	private constructor(library: UwsLibrary, tls: TlsFiles | null, addRoutes: (app: uWS.TemplatedApp) => void) {
		this.#library = library;
		this.#tls = tls;
		this.#addRoutes = addRoutes;
	}

	/**
	 * Loads the HTTP library. It reads its limit on a request's headers from the environment when it is loaded.
	 * @param addRoutes gives an app its handlers; called once for each certificate
	 */
	static async load(
		environment: Record<string, string | undefined>,
		tls: TlsFiles | null,
		addRoutes: (app: uWS.TemplatedApp) => void,
	): Promise<PortListener> {
		environment.UWS_HTTP_MAX_HEADERS_SIZE ??= String(MAX_HEADER_BYTES);
		const library = (await import('uWebSockets.js')) as unknown as UwsLibrary;
		// Sends no header that names the library.
		library._cfg('silent');
		return new PortListener(library, tls, addRoutes);
	}

	/** @throws Error where the address cannot be listened on, or TLS is not possible with the files */
	listen(host: string, port: number): Promise<{ host: string; port: number }> {
		const app = this.#createApp();
		this.#apps.push(app);
		return new Promise((resolve, reject) => {
			// Without this option two processes could share a port, and each would get some of the requests.
			app.listen(host, port, this.#library.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
				if (!socket) return reject(new Error(`Cannot listen on ${host}:${port}: ${CANNOT_LISTEN}`));
				this.#socket = socket;
				resolve({ host, port: this.#library.us_socket_local_port(socket) });
			});
		});
	}

	/**
	 * Reads the files again. New connections get the certificate that is there now.
	 * @throws Error if TLS is not possible with the files; then the former certificate stays
	 */
	reloadCertificate(): void {
		const [first] = this.#apps;
		if (first === undefined) return;
		const former = this.#apps.length > 1 ? this.#apps.at(-1) : undefined;
		const next = this.#createApp();
		first.addChildAppDescriptor(next.getDescriptor());
		if (former !== undefined) first.removeChildAppDescriptor(former.getDescriptor());
		this.#apps.push(next);
	}

	/** Closes the port. Connections stay. */
	stopListening(): void {
		if (this.#socket !== null) this.#library.us_listen_socket_close(this.#socket);
		this.#socket = null;
	}

	/** Closes the port and all connections. */
	close(): void {
		// The library closes the socket, too.
		this.#socket = null;
		for (const app of this.#apps.splice(0)) app.close();
	}

	#createApp(): UwsApp {
		const app = (this.#tls === null ? this.#library.App() : this.#createTlsApp(this.#tls)) as UwsApp;
		this.#addRoutes(app);
		return app;
	}

	#createTlsApp({ certificate, key }: TlsFiles): uWS.TemplatedApp {
		try {
			return this.#library.SSLApp({ cert_file_name: certificate, key_file_name: key });
		} catch (cause) {
			// The library gives no cause.
			throw new Error(`The HTTP library cannot use the certificate in ${certificate} with the key in ${key}.`, {
				cause,
			});
		}
	}
}
