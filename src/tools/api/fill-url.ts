import type { ApiToolConfig } from '../../contract/index.ts';
import { type Filling, misfit, PLACEHOLDER } from '../placeholders.ts';

/** A URL's parts before the query, and its query; a fragment is not sent. */
const PARTS = /^([^:]*:[/\\]*[^/\\?#]*)([^?#]*)(?:\?([^#]*))?/;

/** Segments of a path as the URL Standard reads http and https, where both slashes divide. */
const SEGMENT = /[^/\\]+/g;

/** What the URL Standard takes for "here" and "one up". */
const DOTS = /^(\.|%2e){1,2}$/i;

/**
 * The URL of a call. In its path arguments are percent-encoded, each within its segment; a pair of the query whose argument
 * is not given is left out, and a list makes a pair of each of its items.
 * @throws ToolFailure `invalid_arguments` for an argument that cannot stand where it goes
 */
export function filledUrl({ url, query }: Pick<ApiToolConfig, 'url' | 'query'>, filling: Filling): URL {
	const [, origin = '', path = '', ownQuery = ''] = PARTS.exec(url) ?? [];
	const pairs = [...pairsOfUrl(ownQuery, filling), ...pairsOfConfig(query, filling)];
	return new URL(`${origin}${filledPath(path, filling)}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`);
}

function filledPath(path: string, filling: Filling): string {
	return path.replace(SEGMENT, (segment) => {
		const names = [...segment.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
		if (names.length === 0) return segment;
		const filled = filling.text(segment, (text, name) => {
			// An empty one would make another path: /orders/ instead of /orders/7.
			if (text === '') throw misfit(name, 'must not be empty: it stands in the path');
			return percentEncoded(text, name);
		});
		if (filled === undefined) throw misfit(names.join(' or '), 'is missing: it stands in the path');
		if (DOTS.test(filled)) throw misfit(names.join(' and '), `must not make the path segment ${filled}`);
		return filled;
	});
}

/** The pairs of the template's own query, as they are written there. */
function pairsOfUrl(query: string, filling: Filling): string[] {
	if (query === '') return [];
	return query.split('&').flatMap((pair) => {
		const [, nameAndSign = '', template = ''] = /^([^=]*=?)(.*)$/s.exec(pair) ?? [];
		const list = listAlone(template, filling);
		if (list) return list.map((item) => nameAndSign + percentEncoded(item, template.slice(1, -1)));
		const filled = filling.text(pair, percentEncoded);
		return filled === undefined ? [] : [filled];
	});
}

function pairsOfConfig(query: ApiToolConfig['query'], filling: Filling): string[] {
	const pairs = new URLSearchParams();
	for (const [name, template] of Object.entries(query)) {
		const text = filling.text(String(template));
		const values = listAlone(String(template), filling) ?? (text === undefined ? [] : [text]);
		for (const value of values) pairs.append(name, value);
	}
	return pairs.size === 0 ? [] : [pairs.toString()];
}

/** The items of an argument that is a list, where a template is nothing but its placeholder. */
function listAlone(template: string, filling: Filling): string[] | undefined {
	const value = filling.alone(template)?.value;
	if (!Array.isArray(value)) return undefined;
	return value.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
}

function percentEncoded(text: string, name: string): string {
	try {
		return encodeURIComponent(text);
	} catch {
		throw misfit(name, 'has half of a character, which no URL can hold');
	}
}
