import { type ExtractedDocument, languageOf } from './blocks.ts';
import { openOdf } from './odf-package.ts';
import { OdtReader } from './odt-reader.ts';
import { propertiesOf } from './ooxml-package.ts';

/**
 * Reads an OpenDocument text (ISO/IEC 26300). Notes and text boxes follow the paragraph in which they are anchored.
 * @throws AppError `unreadable_file` or `resource_limit` with a sentence that says what is wrong with it
 */
export function parseOdt(bytes: Uint8Array): ExtractedDocument {
	return parseOdf(bytes, 'odt', 'OpenDocument text');
}

/**
 * Reads an OpenDocument presentation: each slide under its title, with its tables and its speaker notes. The page of a block is the
 * number of its slide.
 * @throws AppError `unreadable_file` or `resource_limit`
 */
export function parseOdp(bytes: Uint8Array): ExtractedDocument {
	return parseOdf(bytes, 'odp', 'OpenDocument presentation');
}

function parseOdf(bytes: Uint8Array, format: 'odt' | 'odp', kind: string): ExtractedDocument {
	const { content, styles, meta } = openOdf(bytes, kind);
	const reader = new OdtReader(kind);
	if (styles !== undefined) reader.readStyles(styles);
	reader.readContent(content);
	const { title, language } = propertiesOf(meta, kind);
	return {
		format,
		title: title || reader.title,
		declared_language: languageOf(language),
		page_count: reader.slides || null,
		blocks: reader.blocks,
	};
}
