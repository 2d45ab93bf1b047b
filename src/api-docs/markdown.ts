import { element } from './dom.ts';

/** Renders the Markdown of descriptions: paragraphs, lists, tables, bold, code and links. HTML is shown as text. */
export function markdown(text: string): HTMLElement[] {
	return text
		.trim()
		.split(/\n{2,}/)
		.map((block) => {
			const lines = block.split('\n');
			if (block.startsWith('|')) return table(lines);
			if (lines.every((line) => /^[-*] /.test(line))) {
				return element('ul', {}, ...lines.map((line) => element('li', {}, ...inline(line.slice(2)))));
			}
			return element('p', {}, ...inline(lines.join(' ')));
		});
}

/** The inline elements of a line. */
export function inline(text: string): Array<Node | string> {
	return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)\s]+\))/).map((part) => {
		if (part.startsWith('`')) return element('code', {}, part.slice(1, -1));
		if (part.startsWith('**')) return element('strong', {}, ...inline(part.slice(2, -2)));
		const link = /^\[([^\]]+)\]\((https?:[^)\s]+|#[\w-]+)\)$/.exec(part);
		return link ? element('a', { href: link[2] }, link[1]) : part;
	});
}

function table([head = '', _rule, ...rows]: string[]): HTMLTableElement {
	const cells = (line: string) =>
		line
			.split('|')
			.slice(1, -1)
			.map((cell) => cell.trim());
	const names = cells(head);
	return element(
		'table',
		{},
		element('thead', {}, element('tr', {}, ...names.map((name) => element('th', { scope: 'col' }, name || 'meaning')))),
		element(
			'tbody',
			{},
			...rows.map((row) => element('tr', {}, ...cells(row).map((cell) => element('td', {}, ...inline(cell))))),
		),
	);
}
