import { createHash, type Hash } from 'node:crypto';
import { Parser } from 'htmlparser2';
import { canonicalUrl, type PageAddress } from './canonical-url.ts';
import { ROBOTS_TOKEN } from './robots-rules.ts';

/** What a crawl needs of a web page. */
export interface PageFacts {
	/** The pages that it links to, in the order of the page, without repetition. */
	links: PageAddress[];
	/** The address that the page names as its own; null if it names none. */
	canonical: PageAddress | null;
	/** Whether it asks that its content is not indexed, or that its links are not followed. */
	noindex: boolean;
	nofollow: boolean;
	/**
	 * The SHA-256 of its elements and its text, hexadecimal: two pages with the same content have the same, also if hidden values
	 * and scripts differ. Null for a page that is too large or too deep to be read here.
	 */
	content: string | null;
}

/** Links of one page. Ordinary pages have up to a few hundred. */
const MAX_LINKS = 2_000;
/** Depth of nested elements. The parser's time for a tag is linear in it. */
const MAX_DEPTH = 500;
/** Tags, after which the rest of a page is not read. */
const MAX_TAGS = 200_000;
/** Attributes of one tag, after which the rest of a page is not read. The parser keeps all of them until the tag ends. */
export const MAX_ATTRIBUTES = 256;
/** Characters of an attribute that may be a link. */
const MAX_ATTRIBUTE = 8_192;

/** Content that is hashed at once. */
const HASH_CHARS = 16 * 1024;

/** Elements whose text is not shown. */
const HIDDEN_TEXT = new Set(['script', 'style', 'template', 'noscript']);
/** Elements that have values for one request, such as a token of a form. */
const VOLATILE = new Set(['script', 'style', 'template', 'noscript', 'link', 'meta', 'input', 'img']);

/** Attributes that are read; all others are skipped. */
const READ_ATTRIBUTES = new Set(['href', 'src', 'rel', 'name', 'content', 'colspan', 'rowspan', 'hidden']);
/** Attributes that change how the page is read. */
const STRUCTURAL_ATTRIBUTES = ['colspan', 'rowspan', 'hidden'] as const;

/** Reads a page in pieces as they arrive: the memory does not depend on its size, and no piece takes long. */
export class PageReader {
	readonly #address: string;
	readonly #decoder: InstanceType<typeof TextDecoder>;
	readonly #parser: Parser;
	readonly #hash: Hash = createHash('sha256');
	readonly #links = new Map<string, PageAddress>();
	#base: string;
	#hasBase = false;
	#canonical: PageAddress | null = null;
	#noindex = false;
	#nofollow = false;
	#depth = 0;
	#tags = 0;
	#attributeCount = 0;
	#hidden = 0;
	#isCut = false;
	#attributes: Record<string, string> = {};
	/** Content that is not hashed yet. */
	#content = '';
	#isAfterSpace = true;

	/**
	 * @param address the address of the page
	 * @param charset the label of the encoding
	 */
	constructor(address: string, charset: string) {
		this.#address = address;
		this.#base = address;
		this.#decoder = decoderOf(charset);
		this.#parser = new Parser(
			{
				onopentagname: () => {
					this.#attributes = {};
					this.#attributeCount = 0;
				},
				onattribute: (name, value) => {
					if (++this.#attributeCount > MAX_ATTRIBUTES) this.#cut();
					if (READ_ATTRIBUTES.has(name) && value.length <= MAX_ATTRIBUTE) this.#attributes[name] ??= value;
				},
				onopentag: (name) => this.#open(name),
				onclosetag: (name) => this.#close(name),
				ontext: (text) => this.#text(text),
			},
			{ decodeEntities: true },
		);
	}

	write(bytes: Uint8Array): void {
		if (!this.#isCut) this.#parser.write(this.#decoder.decode(bytes, { stream: true }));
	}

	end(): PageFacts {
		if (!this.#isCut) this.#parser.end(this.#decoder.decode());
		this.#hashContent();
		return {
			links: this.#nofollow ? [] : [...this.#links.values()],
			canonical: this.#canonical,
			noindex: this.#noindex,
			nofollow: this.#nofollow,
			content: this.#isCut ? null : this.#hash.digest('hex'),
		};
	}

	#open(name: string): void {
		this.#depth++;
		this.#tags++;
		if (this.#depth > MAX_DEPTH || this.#tags > MAX_TAGS) this.#cut();
		if (this.#isCut) return;
		const attributes = this.#attributes;
		if (HIDDEN_TEXT.has(name)) this.#hidden++;
		if (!VOLATILE.has(name)) {
			const structure = STRUCTURAL_ATTRIBUTES.map((attribute) => attributes[attribute] ?? '').join('\0');
			this.#addContent(`<${name}\0${structure}>`);
			this.#isAfterSpace = true;
		}
		if (name === 'a' || name === 'area') this.#addLink(attributes.href, attributes.rel);
		else if (name === 'frame' || name === 'iframe') this.#addLink(attributes.src, undefined);
		else if (name === 'base') this.#setBase(attributes.href);
		else if (name === 'link') this.#readLink(attributes);
		else if (name === 'meta') this.#readMeta(attributes);
	}

	#cut(): void {
		this.#isCut = true;
		this.#parser.pause();
	}

	#close(name: string): void {
		this.#depth--;
		if (HIDDEN_TEXT.has(name)) this.#hidden--;
		if (!VOLATILE.has(name)) this.#addContent('</>');
	}

	/** White space separates words, however much there is of it and in whatever pieces it arrives. */
	#text(text: string): void {
		if (this.#hidden > 0 || this.#isCut) return;
		const spaced = text.replace(/\s+/g, ' ');
		const words = this.#isAfterSpace && spaced.startsWith(' ') ? spaced.slice(1) : spaced;
		if (words === '') return;
		this.#addContent(words);
		this.#isAfterSpace = words.endsWith(' ');
	}

	#addContent(text: string): void {
		this.#content += text;
		if (this.#content.length >= HASH_CHARS) this.#hashContent();
	}

	#hashContent(): void {
		this.#hash.update(this.#content);
		this.#content = '';
	}

	#addLink(href: string | undefined, rel: string | undefined): void {
		if (href === undefined || this.#links.size >= MAX_LINKS || hasToken(rel, 'nofollow')) return;
		const address = canonicalUrl(href.trim(), this.#base);
		if (address !== null && !this.#links.has(address.url)) this.#links.set(address.url, address);
	}

	#setBase(href: string | undefined): void {
		const base = href === undefined || this.#hasBase ? null : canonicalUrl(href.trim(), this.#address);
		if (base === null) return;
		this.#hasBase = true;
		this.#base = base.fetchUrl;
	}

	#readLink({ rel, href }: Record<string, string>): void {
		if (href === undefined || this.#canonical !== null || !hasToken(rel, 'canonical')) return;
		this.#canonical = canonicalUrl(href.trim(), this.#base);
	}

	#readMeta({ name, content = '' }: Record<string, string>): void {
		const agent = name?.trim().toLowerCase();
		if (agent !== 'robots' && agent !== 'parley') return;
		const { noindex, nofollow } = robotsDirectives(content);
		this.#noindex ||= noindex;
		this.#nofollow ||= nofollow;
	}
}

/** Directives with a value, which looks like the name of an agent before its directives. */
const DIRECTIVES_WITH_VALUE = /^(?:unavailable_after|max-snippet|max-image-preview|max-video-preview)$/;

/**
 * The directives of a meta element `robots`, or of the header `X-Robots-Tag`. Directives behind the name of another agent are
 * skipped, up to the next name.
 */
export function robotsDirectives(text: string): Pick<PageFacts, 'noindex' | 'nofollow'> {
	const directives: string[] = [];
	let isMeant = true;
	for (const part of text.toLowerCase().split(',')) {
		const [, name, rest = part] = /^\s*([\w*-]+)\s*:(.*)$/s.exec(part) ?? [];
		if (name !== undefined && DIRECTIVES_WITH_VALUE.test(name)) continue;
		if (name !== undefined) isMeant = name === ROBOTS_TOKEN || name === 'robots' || name === '*';
		if (isMeant) directives.push(...rest.trim().split(/\s+/));
	}
	const none = directives.includes('none');
	return { noindex: none || directives.includes('noindex'), nofollow: none || directives.includes('nofollow') };
}

/** The encoding of a page: the label in its header, else in its first bytes, else UTF-8. */
export function charsetOfPage(contentType: string | undefined, head: Uint8Array): string {
	const declared = /;\s*charset\s*=\s*"?([\w:.-]+)/i.exec(contentType ?? '')?.[1];
	if (declared !== undefined) return declared;
	const start = Buffer.from(head.subarray(0, 1_024)).toString('latin1');
	return /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(start)?.[1] ?? 'utf-8';
}

function decoderOf(label: string): InstanceType<typeof TextDecoder> {
	try {
		return new TextDecoder(label);
	} catch {
		return new TextDecoder();
	}
}

function hasToken(list: string | undefined, token: string): boolean {
	return list?.toLowerCase().split(/\s+/).includes(token) ?? false;
}
