/** What a site's robots.txt says to this server (RFC 9309). */
export interface RobotsRules {
	/** @param path the path and query of an address, in the form of the URL standard */
	allows(path: string): boolean;
	/** Milliseconds between two requests; null if the site asks for none. */
	crawlDelayMs: number | null;
	/** The addresses of its sitemaps, as they are written (sitemaps.org, "Specifying the Sitemap location"). */
	sitemaps: readonly string[];
}

/** The name that rules of a robots.txt use. */
export const ROBOTS_TOKEN = 'parley';

/** Bytes of a robots.txt that are read (RFC 9309, 2.5). */
export const MAX_ROBOTS_BYTES = 500 * 1024;

/** Rules that are compared. Real files have a few hundred; each takes a microsecond for each page. */
const MAX_RULES = 5_000;
/** Sitemaps that are read. */
const MAX_SITEMAPS = 100;
/** Wildcards of a rule. The time is linear for each. */
const MAX_WILDCARDS = 20;

/** A rule: the parts between its wildcards. */
interface Rule {
	allow: boolean;
	/** Its length decides which rule wins. */
	length: number;
	parts: string[];
	/** Whether it ends in `$`. */
	isAnchored: boolean;
}

interface Group {
	rules: Rule[];
	crawlDelayMs: number | null;
}

export const ALLOW_ALL: RobotsRules = { allows: () => true, crawlDelayMs: null, sitemaps: [] };

/**
 * Reads a robots.txt. The groups of this server's name apply together, else those of `*`. The longest matching rule wins, and of
 * equally long ones an `Allow`. Lines that are no rules are ignored.
 */
export function parseRobots(text: string): RobotsRules {
	const own: Group = { rules: [], crawlDelayMs: null };
	const general: Group = { rules: [], crawlDelayMs: null };
	const sitemaps: string[] = [];
	let groups: Group[] = [];
	let hasOwn = false;
	let afterAgent = false;
	for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)) {
		const separator = line.indexOf(':');
		if (separator < 0) continue;
		const name = line.slice(0, separator).trim().toLowerCase();
		const value = line
			.slice(separator + 1)
			.replace(/#.*$/, '')
			.trim();
		if (name === 'sitemap') {
			// It belongs to no group. A `#` may be part of the address.
			const [address = ''] = line
				.slice(separator + 1)
				.trim()
				.split(/\s/);
			if (address !== '' && sitemaps.length < MAX_SITEMAPS) sitemaps.push(address);
			continue;
		}
		if (name === 'user-agent') {
			// Lines of agents that follow each other share their rules.
			if (!afterAgent) groups = [];
			afterAgent = true;
			const token = /^[a-z_-]*/i.exec(value)?.[0].toLowerCase();
			if (value === '*') groups.push(general);
			else if (token === ROBOTS_TOKEN) {
				hasOwn = true;
				groups.push(own);
			}
			continue;
		}
		if (name === 'allow' || name === 'disallow') {
			const rule = ruleOf(name === 'allow', value);
			for (const group of groups) if (rule && group.rules.length < MAX_RULES) group.rules.push(rule);
		} else if (name === 'crawl-delay') {
			const seconds = Number(value);
			for (const group of groups) if (value !== '' && seconds >= 0) group.crawlDelayMs = seconds * 1_000;
		} else continue;
		afterAgent = false;
	}
	const { rules, crawlDelayMs } = hasOwn ? own : general;
	return { allows: (path) => isAllowed(rules, normalPath(path)), crawlDelayMs, sitemaps };
}

function isAllowed(rules: readonly Rule[], path: string): boolean {
	let best: Rule | null = null;
	for (const rule of rules) {
		if (best && (rule.length < best.length || (rule.length === best.length && !rule.allow))) continue;
		if (matches(rule, path)) best = rule;
	}
	return best?.allow ?? true;
}

/** Null for an empty rule, which matches nothing, and for a rule that no site writes. */
function ruleOf(allow: boolean, value: string): Rule | null {
	if (value === '') return null;
	const isAnchored = value.endsWith('$');
	const pattern = normalPath(isAnchored ? value.slice(0, -1) : value).replace(/\*+/g, '*');
	const parts = pattern.split('*');
	if (parts.length > MAX_WILDCARDS + 1) return null;
	return { allow, length: value.length, parts, isAnchored };
}

function matches({ parts, isAnchored }: Rule, path: string): boolean {
	const [first = '', ...rest] = parts;
	if (!path.startsWith(first)) return false;
	if (rest.length === 0) return !isAnchored || path.length === first.length;
	const last = isAnchored ? (rest.pop() as string) : '';
	let at = first.length;
	for (const part of rest) {
		const found = path.indexOf(part, at);
		if (found < 0) return false;
		at = found + part.length;
	}
	return path.endsWith(last) && at <= path.length - last.length;
}

/** The form in which rules and paths are compared: characters beyond ASCII escaped, escapes of plain characters decoded. */
function normalPath(path: string): string {
	return path
		.replace(/[^\x21-\x7e]+/gu, (text) => encodeURIComponent(text))
		.replace(/%([0-9a-f]{2})/gi, (encoded, hex: string) => {
			const character = String.fromCharCode(Number.parseInt(hex, 16));
			return /[A-Za-z0-9._~-]/.test(character) ? character : encoded.toUpperCase();
		});
}
