import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** Folders without pages of the project: packages, build output, server data, test fixtures, documents of the question sets. */
const SKIPPED = new Set(['node_modules', '.build', '.git', 'run', 'fixtures', 'cache', 'question-sets']);

/** A page of the project. */
export interface Page {
	/** Relative to the project. */
	path: string;
	text: string;
}

/** Every Markdown file of the project. */
export function pages(folder = ''): Page[] {
	return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
		const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
		if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : pages(path);
		return entry.name.endsWith('.md') ? [{ path, text: readFileSync(join(root, path), 'utf8') }] : [];
	});
}

/** The text without fenced code. */
export function prose({ text }: Page): string {
	return text.replace(/^(```+).*?^\1/gms, '');
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf(page: Page): Set<string> {
	const anchors = new Set<string>();
	for (const [, heading = ''] of prose(page).matchAll(/^#{1,6} +(.+)$/gm)) {
		const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').trim();
		const slug = plain
			.toLowerCase()
			.replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
			.replaceAll(' ', '-');
		let anchor = slug;
		for (let copy = 1; anchors.has(anchor); copy++) anchor = `${slug}-${copy}`;
		anchors.add(anchor);
	}
	return anchors;
}

/** The targets of a page's links and images. */
export function targetsOf(page: Page): string[] {
	const text = prose(page).replace(/`[^`\n]*`/g, '');
	return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
}

/** The cells of the table with this first heading cell. */
export function tableOf({ path, text }: Page, heading: string): string[][] {
	const start = text.indexOf(`| ${heading} |`);
	if (start < 0) throw new Error(`${path} has no table that begins with "${heading}".`);
	const [table = ''] = text.slice(start).split('\n\n');
	const rows = table.trim().split('\n').slice(2);
	return rows.map((row) =>
		row
			.split('|')
			.slice(1, -1)
			.map((cell) => cell.trim()),
	);
}

/** A cell without the backticks around it. */
export function uncoded(cell: string): string {
	return cell.replace(/^`+|`+$/g, '');
}
