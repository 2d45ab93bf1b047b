/** Groups whose text is not part of the document (RTF 1.9.1). All groups that begin with `\*` and are unknown are left out, too. */
const SKIPPED = new Set(
	`fonttbl colortbl stylesheet listtable listoverridetable revtbl rsidtbl generator info pict object objdata header headerl
	headerr headerf footer footerl footerr footerf ftnsep ftnsepc ftncn aftnsep annotation atnid atnauthor atntime atndate
	fldinst bkmkstart bkmkend themedata colorschememapping latentstyles datastore xmlnstbl nonshppict sp tc xe private
	shprslt panose nonesttables falt fname datafield formfield template filetbl`.split(/\s+/),
);
/** Groups that begin with `\*` and have text. */
const SHOWN = new Set(['shpinst', 'shptxt', 'pntext']);

/** Control words that stand for characters. */
export const RTF_CHARACTERS: Record<string, string> = {
	line: '\n',
	tab: ' ',
	emdash: '—',
	endash: '–',
	emspace: ' ',
	enspace: ' ',
	bullet: '•',
	lquote: '‘',
	rquote: '’',
	ldblquote: '“',
	rdblquote: '”',
	'~': ' ',
	_: '-',
};

/** What a group inherits from the one around it. */
export interface RtfGroup {
	skipped: boolean;
	/** The text of a skipped group that is kept: the title of the document, the marker of a list item, the names of styles and of fonts with signs. */
	capture: 'title' | 'marker' | 'style' | 'font' | null;
	hidden: boolean;
	/** Superscript. */
	isRaised: boolean;
	/** The characters that stand for a `\u` in programs without Unicode. */
	fallback: number;
	/** The charset of the font, or the name of a font of signs. */
	charset: string | null;
}

/** The state at the beginning of a document. */
export const FIRST_GROUP: Readonly<RtfGroup> = {
	skipped: false,
	capture: null,
	hidden: false,
	isRaised: false,
	fallback: 1,
	charset: 'windows-1252',
};

/**
 * Whether the text of a group is not part of the document.
 * @param isOptional whether the group begins with `\\*`, so that programs that do not know it leave it out
 */
export function isSkippedGroup(word: string, isOptional: boolean): boolean {
	return SKIPPED.has(word) || (isOptional && !SHOWN.has(word));
}
