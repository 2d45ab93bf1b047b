// Source rules that no published linter has, checked line by line. Each has a sentence that says what to do.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow, root } from './project.mjs';

const isCode = (path) => /\.(ts|tsx|mts|mjs|cjs|js)$/.test(path);
// Files named …-page.ts contain a page's script as text, which runs in a browser.
const server = (path) => /^(src|workers)\//.test(path) && !/^src\/(widget|api-docs|dashboard)\/|-page\.ts$/.test(path);

const rules = [
	{
		say: 'Only src/config reads the environment. Pass the value as an argument.',
		// The single binary reads where to unpack src/config before it is unpacked.
		files: (path) => server(path) && !path.startsWith('src/config/') && path !== 'src/binary/main.ts',
		// The HTTP library reads this variable from the environment only.
		except: /UWS_HTTP_MAX_HEADERS_SIZE/,
		pattern: /\bprocess\s*(\.\s*env\b|\[\s*['"`]env['"`]\s*\])|\benv\b.*\bfrom '(node:)?process'/,
	},
	{
		say: 'Only src/net opens connections. Use its guarded fetch.',
		// The linter checks globals by name, and imports. These are ways around it.
		files: (path) => server(path) && !path.startsWith('src/net/'),
		pattern: /\bprocess\b.*\b(binding|_linkedBinding|dlopen|getBuiltinModule)\b/,
	},
	{
		say: 'Node may lose a time limit that only AbortSignal.any holds; take anySignal of src/base.',
		files: (path) => server(path) && path !== 'src/base/any-signal.ts',
		pattern: /\bAbortSignal\s*\.\s*any\b/,
	},
	{
		say: 'Call parseUrl of src/base: once its caller is optimized, canParse refuses URLs with letters of Latin-1.',
		files: (path) => /^(src|workers)\//.test(path),
		pattern: /\bcanParse\b/,
	},
	{
		say: 'Finish it, or write an issue.',
		files: (path) => path !== 'scripts/source-rules.mjs',
		pattern: /\b(TODO|FIXME|XXX|HACK)\b/,
		comments: true,
	},
	{
		say: 'A test that is switched off, or runs alone, hides others.',
		files: (path) => path.startsWith('test/'),
		pattern: /\b(test|it|describe)\.(only|todo)\b|\bonly: true\b/,
	},
	{
		say: 'Name the file for its content.',
		files: (path) => /(^|\/)(utils?|helpers?|manager|misc|common)(\.|\/)/i.test(path),
		pattern: /^/,
		once: true,
	},
];

/** Every violation as `path:line: sentence`. */
export function ruleViolations() {
	const files = ['src', 'workers', 'bench', 'test', 'examples', 'scripts'].flatMap((folder) =>
		filesBelow(folder, isCode),
	);
	return files.flatMap((path) => ruleViolationsIn(path, () => readFileSync(join(root, path), 'utf8')));
}

/** The violations in one file. The path is relative to the project. The text is read only if a rule applies to the file. */
export function ruleViolationsIn(path, read) {
	const applying = rules.filter((rule) => rule.files(path));
	if (applying.length === 0) return [];
	const found = [];
	read()
		.split('\n')
		.forEach((line, index) => {
			for (const rule of applying) {
				if ((rule.once && index > 0) || rule.except?.test(line)) continue;
				if (rule.pattern.test(rule.comments ? line : withoutComment(line))) {
					found.push(`${path}:${index + 1}: ${rule.say}\n    ${line.trim().slice(0, 100)}`);
				}
			}
		});
	return found;
}

function withoutComment(line) {
	const code = line.trimStart();
	if (code.startsWith('*') || code.startsWith('/*')) return '';
	return line.replace(/(^|\s)\/\/.*$/, '');
}
