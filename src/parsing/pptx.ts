import { AppError } from '../base/index.ts';
import { type Block, type ExtractedDocument, languageOf } from './blocks.ts';
import { MAX_PAGES, resourceLimit, TextBudget } from './limits.ts';
import { type OfficeKind, openPackage, propertiesOf, relationshipsOf } from './ooxml-package.ts';
import { readSlide, readSpeakerNotes, type Slide } from './pptx-slide.ts';
import { type Element, readXml } from './xml-reader.ts';
import type { Parts } from './zip-archive.ts';

const KIND: OfficeKind = {
	name: 'presentation',
	oldFormat: 'Old PowerPoint files (.ppt) cannot be read. Save the file as .pptx or PDF.',
};

/** A longer first text is not used as the heading of a slide without a title. */
const MAX_HEADING_CHARACTERS = 100;

/**
 * Reads a presentation (Office Open XML): each slide that is shown, in order, under its title, with its tables and its speaker notes.
 * The page of a block is the number of its slide.
 * @throws AppError `unreadable_file` or `resource_limit` with a sentence that says what is wrong with it
 */
export function parsePptx(bytes: Uint8Array): ExtractedDocument {
	const parts = openPackage(bytes, KIND);
	const slides = slidesOf(parts);
	if (slides.length > MAX_PAGES) {
		throw resourceLimit(`The presentation has ${slides.length} slides; at most ${MAX_PAGES} are read. Split it.`);
	}
	const budget = new TextBudget();
	const blocks: Block[] = [];
	const seen = new Set<string>();
	for (const [index, name] of slides.entries()) {
		const part = parts.get(name);
		// Several slides of one part, and several slides with the same notes, are a mistake or an attack.
		if (part === undefined || seen.has(name)) continue;
		seen.add(name);
		const page = index + 1;
		const relationships = relationshipsOf(parts, name, KIND);
		const targetsOf = (type: string) =>
			relationships.flatMap((relationship) => {
				const target = relationship.type === type ? parts.get(relationship.target) : undefined;
				if (target === undefined || seen.has(relationship.target)) return [];
				seen.add(relationship.target);
				return [target];
			});
		const slide = readSlide(part, page, budget, targetsOf('diagramData'));
		if (slide.isHidden) continue;
		const notes = targetsOf('notesSlide').flatMap((notes) => readSpeakerNotes(notes, page, budget));
		for (const block of [...withHeading(slide, page), ...notes]) blocks.push(block);
	}
	const core = propertiesOf(parts.get('docprops/core.xml'), KIND.name);
	return {
		format: 'pptx',
		title: core.title && !NO_TITLE.test(core.title) ? core.title : firstHeading(blocks),
		declared_language: languageOf(core.language),
		page_count: slides.length,
		blocks,
	};
}

/** Titles that programs give. */
const NO_TITLE = /^(?:powerpoint[- ]?(?:presentation|präsentation)|présentation powerpoint|slide \d+|untitled)$/i;

/** The names of the slides' parts, in the order of the presentation. */
function slidesOf(parts: Parts): string[] {
	const main = relationshipsOf(parts, '', KIND).find(
		({ type, target }) => type === 'officeDocument' && parts.has(target),
	);
	const name = main?.target ?? 'ppt/presentation.xml';
	const presentation = parts.get(name);
	if (presentation === undefined) {
		throw new AppError('unsupported_file_type', `This is not a ${KIND.name}, although its name or type says so.`);
	}
	const targets = new Map(relationshipsOf(parts, name, KIND).map(({ id, target }) => [id, target]));
	const slides: string[] = [];
	const handlers = {
		open: (element: Element) => {
			if (element.name === 'p:sldId') slides.push(targets.get(element.attribute('r:id') ?? '') ?? '');
		},
		close: () => {},
		text: () => {},
	};
	readXml(presentation, handlers, KIND.name);
	return slides;
}

/** The blocks of a slide under a heading, so that none stands under the title of the slide before it. */
function withHeading({ title, blocks }: Slide, page: number): Block[] {
	if (title !== null) return [{ kind: 'heading', level: 1, text: title, page }, ...blocks];
	const [first, ...rest] = blocks;
	if (first === undefined) return [];
	if (first.kind === 'paragraph' && first.text.length <= MAX_HEADING_CHARACTERS && rest.length > 0)
		return [{ kind: 'heading', level: 1, text: first.text.replace(/\n/g, ' '), page }, ...rest];
	return [{ kind: 'heading', level: 1, text: `Slide ${page}`, page }, ...blocks];
}

function firstHeading(blocks: readonly Block[]): string | null {
	const [first] = blocks;
	return first?.kind === 'heading' && first.page === 1 ? first.text : null;
}
