import type { ApiToolConfig } from '../../contract/index.ts';
import { invalidArgument, PLACEHOLDER, type TemplateFiller } from '../placeholders.ts';

/** A URL's parts before the query, and its query; a fragment is not sent. */
const URL_PARTS = /^([^:]*:[/\\]*[^/\\?#]*)([^?#]*)(?:\?([^#]*))?/;

/** Segments of a path as the URL Standard parses http and https, where slash and backslash separate. */
const SEGMENT = /[^/\\]+/g;

/** The single-dot and double-dot segments of the URL Standard. */
const DOT_SEGMENT = /^(\.|%2e){1,2}$/i;

/**
 * The URL of a call. Arguments in the path are percent-encoded within their segment. A pair of the query whose argument is
 * missing is omitted, and a list becomes one pair per item.
 * @throws ToolFailure `invalid_arguments` for an argument that is not valid at its position
 */
export function fillUrl({ url, query }: Pick<ApiToolConfig, 'url' | 'query'>, filler: TemplateFiller): URL {
	const [, origin = '', path = '', ownQuery = ''] = URL_PARTS.exec(url) ?? [];
	const pairs = [...pairsOfUrl(ownQuery, filler), ...pairsOfConfig(query, filler)];
	return new URL(`${origin}${fillPath(path, filler)}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`);
}

function fillPath(path: string, filler: TemplateFiller): string {
	return path.replace(SEGMENT, (segment) => {
		const names = [...segment.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
		if (names.length === 0) return segment;
		const filled = filler.fillText(segment, (text, name) => {
			// An empty segment would be another path: /orders/ instead of /orders/7.
			if (text === '') throw invalidArgument(name, 'must not be empty: it stands in the path');
			return percentEncode(text, name);
		});
		if (filled === undefined) throw invalidArgument(names.join(' or '), 'is missing: it stands in the path');
		if (DOT_SEGMENT.test(filled))
			throw invalidArgument(names.join(' and '), `must not make the path segment ${filled}`);
		return filled;
	});
}

/** The pairs of the query in the template, as written there. */
function pairsOfUrl(query: string, filler: TemplateFiller): string[] {
	if (query === '') return [];
	return query.split('&').flatMap((pair) => {
		const [, nameAndSign = '', template = ''] = /^([^=]*=?)(.*)$/s.exec(pair) ?? [];
		const list = listArgument(template, filler);
		if (list) return list.map((item) => nameAndSign + percentEncode(item, template.slice(1, -1)));
		const filled = filler.fillText(pair, percentEncode);
		return filled === undefined ? [] : [filled];
	});
}

function pairsOfConfig(query: ApiToolConfig['query'], filler: TemplateFiller): string[] {
	const pairs = new URLSearchParams();
	for (const [name, template] of Object.entries(query)) {
		const text = filler.fillText(String(template));
		const values = listArgument(String(template), filler) ?? (text === undefined ? [] : [text]);
		for (const value of values) pairs.append(name, value);
	}
	return pairs.size === 0 ? [] : [pairs.toString()];
}

/** The items of a list, where the template is one placeholder and nothing else. */
function listArgument(template: string, filler: TemplateFiller): string[] | undefined {
	const value = filler.soleArgument(template)?.value;
	if (!Array.isArray(value)) return undefined;
	return value.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
}

function percentEncode(text: string, name: string): string {
	try {
		return encodeURIComponent(text);
	} catch {
		throw invalidArgument(name, 'has half of a character, which no URL can hold');
	}
}
