import { type Agent, type RequestOptions, request } from 'node:https';
import type { TLSSocket } from 'node:tls';

/** The response to a request over TLS. */
export interface HttpsResponse {
	status: number;
	headers: Record<string, string | string[] | undefined>;
	body: string;
	/** The name in the server's certificate. */
	certificateName: string;
}

/** What a request needs beside its address. */
export interface HttpsRequestOptions extends RequestOptions {
	/** Absent: the connection is closed with the response. */
	agent?: Agent;
	body?: string | Buffer;
}

/** Sends a request over TLS. The certificate is checked against `ca`; without it any is accepted. */
export function httpsRequest(url: string, { body, ...options }: HttpsRequestOptions = {}): Promise<HttpsResponse> {
	return new Promise((resolve, reject) => {
		const sent = request(
			url,
			{ agent: false, rejectUnauthorized: options.ca !== undefined, ...options },
			(response) => {
				const { CN } = (response.socket as TLSSocket).getPeerCertificate().subject;
				let text = '';
				response.setEncoding('utf8');
				response.on('data', (part: string) => {
					text += part;
				});
				response.on('error', reject);
				response.on('end', () =>
					resolve({
						status: response.statusCode ?? 0,
						headers: response.headers,
						body: text,
						certificateName: String(CN),
					}),
				);
			},
		);
		sent.on('error', reject);
		sent.end(body);
	});
}
