import { type Element, readXml } from './xml-reader.ts';

/** The text of notes by their ids ("footnote 1", "endnote 1"). */
export type Notes = ReadonlyMap<string, string>;

/** The texts of a notes part, without its separator lines. */
export function readFootnotes(
	part: Uint8Array | undefined,
	kind: 'footnote' | 'endnote',
	into: Map<string, string>,
): void {
	if (part === undefined) return;
	let id: string | null = null;
	let text = '';
	let inText = 0;
	const handlers = {
		open: (element: Element) => {
			if (element.name === `w:${kind}`) {
				const type = element.attribute('type');
				id = type === null || type === 'normal' ? element.attribute('id') : null;
				text = '';
			} else if (element.name === 'w:t') inText++;
			else if (element.name === 'w:tab' || element.name === 'w:br') text += ' ';
		},
		close: (name: string) => {
			if (name === 'w:t') inText--;
			else if (name === 'w:p') text += ' ';
			else if (name === `w:${kind}` && id !== null) into.set(`${kind} ${id}`, text.replace(/\s+/gu, ' ').trim());
		},
		text: (value: string) => {
			if (inText > 0) text += value;
		},
	};
	readXml(part, handlers, 'Word document');
}
