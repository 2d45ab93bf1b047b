import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { etagOf, type Headers, type HttpRequest, notModified, type RouteResponse } from '../http/index.ts';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
	'.css': 'text/css; charset=utf-8',
	'.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
	'.html': 'text/html; charset=utf-8',
	'.js': 'text/javascript; charset=utf-8',
	'.md': 'text/markdown; charset=utf-8',
	'.mjs': 'text/javascript; charset=utf-8',
	'.mts': 'text/plain; charset=utf-8',
	'.pdf': 'application/pdf',
	'.txt': 'text/plain; charset=utf-8',
};

/** One encoding of a file: plain or compressed. */
interface Variant {
	headers: Headers;
	etag: string;
	body: Buffer;
}

/** The encodings that a client may accept, the smallest first. */
const ENCODINGS = [
	['br', '.br'],
	['gzip', '.gz'],
	['', ''],
] as const;

/** A file of the build with its compressed variants, in memory. */
export class BuiltFile {
	readonly #variants: ReadonlyMap<string, Variant>;

	/** @param variants by content coding; the plain file under '' */
	constructor(variants: ReadonlyMap<string, Variant>) {
		this.#variants = variants;
	}

	get text(): string {
		return this.#plain.body.toString();
	}

	/** The smallest variant that the client accepts, or 304. @param headers of every response, for example `Cache-Control` */
	respond(request: HttpRequest, headers: Headers): RouteResponse {
		const accepted = request.header('accept-encoding') ?? '';
		const coding = ENCODINGS.map(([name]) => name).find((name) => this.#variants.has(name) && accepts(accepted, name));
		const variant = this.#variants.get(coding ?? '') ?? this.#plain;
		const all: Headers = [...variant.headers, ...headers, ['vary', 'Accept-Encoding']];
		return (
			notModified(request.header('if-none-match'), variant.etag, all) ?? {
				status: 200,
				headers: all,
				body: variant.body,
			}
		);
	}

	get #plain(): Variant {
		return this.#variants.get('') as Variant;
	}
}

/** Each folder of the build with the file that browsers load first. */
const FIRST_FILES = { widget: 'widget.js', dashboard: 'index.html' };

/** The files of a folder of the build by their names; none if the folder was not built. */
export async function readBuiltFiles(folder: keyof typeof FIRST_FILES): Promise<Map<string, BuiltFile>> {
	const from = builtFolder(folder);
	const found = existsSync(from) ? await readdir(from) : [];
	const names = found.filter((name) => extname(name) in CONTENT_TYPES);
	const read = async (name: string): Promise<[string, BuiltFile]> => {
		const variants = new Map<string, Variant>();
		for (const [coding, suffix] of ENCODINGS) {
			if (!found.includes(name + suffix)) continue;
			const body = await readFile(new URL(name + suffix, from));
			const etag = etagOf(body);
			const headers: Headers = [
				['content-type', CONTENT_TYPES[extname(name)] as string],
				['etag', etag],
				['x-content-type-options', 'nosniff'],
				...(coding === '' ? [] : [['content-encoding', coding] as const]),
			];
			variants.set(coding, { headers, etag, body });
		}
		return [name, new BuiltFile(variants)];
	};
	return new Map(await Promise.all(names.map(read)));
}

/** Beside the bundled server, or in the build's folder when Parley runs from its sources. */
function builtFolder(name: keyof typeof FIRST_FILES): URL {
	const bundled = new URL(`./${name}/`, import.meta.url);
	return existsSync(new URL(FIRST_FILES[name], bundled)) ? bundled : new URL(`../../.build/${name}/`, import.meta.url);
}

/** Whether an Accept-Encoding header accepts this coding (RFC 9110, section 12.5.3); the plain encoding always is accepted. */
function accepts(header: string, coding: string): boolean {
	if (coding === '') return true;
	return header.split(',').some((part) => {
		const [name, ...weights] = part.split(';').map((text) => text.trim().toLowerCase());
		return name === coding && !weights.some((weight) => /^q=0(\.0*)?$/.test(weight));
	});
}
