// Lists words that this project does not use, in comments, test names, sentences for people and Markdown pages. Of style sheets and
// WebAssembly text it reads the comments.
//   node scripts/check-words.mjs                  the whole project
//   node scripts/check-words.mjs src/api docs     the files in these folders
// Exceptions are in allowed-words.mjs.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { allowedWords } from './allowed-words.mjs';
import { filesBelow, isEntry, main, root } from './project.mjs';

const BANNED = /\b(whoever|nobody|anew|ours|one\s+that|is\s+told|what\s+comes\s+of\s+it|so\s+often)\b/gi;
const PLACES = ['src', 'workers', 'bench', 'test', 'examples', 'scripts', 'docs', '.dependency-cruiser.cjs'];
const PAGES = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];

/** Every hit below the given files and folders as `path:line: word: text of the line`, and each exception that no longer applies. */
export function bannedWords(places = [...PLACES, ...PAGES]) {
	const files = places
		.map((place) => place.replace(/\/$/, ''))
		.flatMap((place) =>
			statSync(join(root, place)).isFile()
				? [place]
				: filesBelow(place, (path) => /\.(ts|tsx|mjs|cjs|md|css|wat)$/.test(path)),
		);
	const checked = files.filter((path) => path !== 'scripts/allowed-words.mjs');
	const unused = new Set(allowedWords.filter(({ file }) => files.includes(file)));
	const hits = checked.flatMap((path) =>
		bannedWordsIn(path, readFileSync(join(root, path), 'utf8'), allowedWords, unused),
	);
	return [
		...hits,
		...[...unused].map(({ file, text }) => `${file}: scripts/allowed-words.mjs allows “${text}”, which is not there`),
	];
}

/** The hits in one file. Exceptions that cover a hit are removed from `unused`. */
export function bannedWordsIn(path, text, allowed = [], unused = new Set()) {
	// Most files have none of the words anywhere and need not be parsed.
	if (withoutCommentMarks(text).search(BANNED) === -1) return [];
	const prose = proseOf(path, text);
	const lines = text.split('\n');
	const exceptions = allowed.filter(({ file }) => file === path);
	const hits = [];
	for (const match of prose.matchAll(BANNED)) {
		const number = text.slice(0, match.index).split('\n').length;
		// A phrase may start at the end of a line.
		const line = lines.slice(number - 1, number + match[0].split('\n').length - 1).join('\n');
		const exception = exceptions.find((entry) => covers(entry, text, match));
		unused.delete(exception);
		if (exception === undefined)
			hits.push(`${path}:${number}: ${match[0].replace(/\s+/g, ' ')}: ${line.trim().replace(/\s+/g, ' ')}`);
	}
	return hits;
}

/** Whether the exception's text is around the hit. Other hits on the same line are not excused. */
function covers({ text: allowed }, text, { index, 0: words }) {
	for (let at = text.indexOf(allowed); at !== -1; at = text.indexOf(allowed, at + 1)) {
		if (at <= index && index + words.length <= at + allowed.length) return true;
	}
	return false;
}

/** The text as blanks, with its line ends. */
const blank = (text) => text.replace(/[^\n]/g, ' ');

/** A phrase may continue after the marks of the next comment line. */
const withoutCommentMarks = (text) => text.replace(/[*/]|;;|\(;|;\)/g, blank);

// These replace everything but prose by blanks: offsets and lines stay.

function proseOf(path, text) {
	if (path.endsWith('.md')) return proseOfPage(text);
	if (path.endsWith('.css')) return proseOfComments(text, /\/\*[\s\S]*?\*\//g, /"[^"\n]*"|'[^'\n]*'/g);
	if (path.endsWith('.wat')) return proseOfComments(text, /;;.*|\(;[\s\S]*?;\)/g, /"[^"\n]*"/g);
	return proseOfCode(path, text);
}

function proseOfPage(text) {
	return text.replace(/^(```|~~~)[\s\S]*?^\1|`[^`\n]*`/gm, blank);
}

/** The comments only. What looks like a comment in a string is part of the string. */
function proseOfComments(text, comment, string) {
	const token = new RegExp(`(${comment.source})|${string.source}`, 'g');
	let prose = '';
	let at = 0;
	for (const { 0: all, 1: found, index } of text.matchAll(token)) {
		prose += blank(text.slice(at, index)) + (found ?? blank(all));
		at = index + all.length;
	}
	return withoutCommentMarks(prose + blank(text.slice(at)));
}

function proseOfCode(path, text) {
	const isTest = path.startsWith('test/');
	const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
	const ranges = [];
	const visit = (node) => {
		// Comments stand before and after tokens. JSX text has none: `//` in it is text.
		if (node.kind !== ts.SyntaxKind.JsxText && node.getChildCount(source) === 0) {
			ranges.push(
				...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
				...(ts.getTrailingCommentRanges(text, node.end) ?? []),
			);
		}
		if (isTest ? isTestName(node) : isSentence(node, source))
			ranges.push({ pos: node.getStart(source), end: node.end });
		for (const child of node.getChildren(source)) if (!ts.isJSDoc(child)) visit(child);
	};
	visit(source);
	const prose = blank(text).split('');
	for (const { pos, end } of ranges) for (let at = pos; at < end; at++) prose[at] = text[at];
	return withoutCommentMarks(prose.join(''));
}

/** The first argument of test(), it(), describe() and suite(), also as a method: `t.test('…')`, `test.skip('…')`. */
function isTestName(node) {
	if (!ts.isCallExpression(node.parent ?? node) || node.parent?.arguments[0] !== node) return false;
	return /(^|\.)(test|it|describe|suite)(\.\w+)?$/.test(node.parent.expression.getText());
}

/** Text for people, such as the message of an error or of a log line: a string of several words. */
function isSentence(node, source) {
	const isText = ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node) || ts.isJsxText(node);
	return isText && /\S\s+\S/.test(node.getText(source).slice(1, -1));
}

if (isEntry(import.meta.url)) {
	await main(() => {
		const places = process.argv.slice(2);
		const hits = bannedWords(places.length === 0 ? undefined : places);
		for (const hit of hits) process.stdout.write(`${hit}\n`);
		return hits.length === 0 ? 0 : 1;
	});
}
