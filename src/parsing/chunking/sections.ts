import type { Block, BodyBlock } from '../blocks.ts';
import { countWords } from './words.ts';

/** The content between two headings, with the headings above it. */
export interface Section {
	/** The headings, outermost first. */
	path: string[];
	blocks: BodyBlock[];
	/** Its number of words, exact only if it is small. */
	words: number;
}

/** Sections with fewer words are joined with their neighbours; the answer to a question is usually longer. */
const MIN_SECTION_WORDS = 25;
/** The maximum number of words of joined sections. */
const MAX_JOINED_WORDS = 200;
const MAX_HEADING_CHARACTERS = 200;
/** A text of more characters has more words than a tiny section, in any script. */
const NOT_TINY_CHARACTERS = 1000;

interface OpenHeading {
	level: number;
	text: string;
}

/** Sorts blocks under their headings, and joins neighbouring sections that are too small to stand alone. */
export function sectionsOf(blocks: Block[]): Section[] {
	return joinTiny(split(blocks));
}

function split(blocks: Block[]): Section[] {
	const sections: Section[] = [];
	let headings: OpenHeading[] = [];
	let section: Section & { page: number | null } = { path: [], blocks: [], words: 0, page: null };
	let level = 0;
	/** A heading without content and without subheadings becomes a text. */
	const endSection = (next: number) => {
		const own = section.path.at(-1);
		if (section.blocks.length === 0 && own !== undefined && next <= level) {
			section = { ...section, path: section.path.slice(0, -1), blocks: [paragraph(own, section.page)] };
		}
		if (section.blocks.length === 0) return;
		sections.push({ path: section.path, blocks: section.blocks, words: wordsOf(section.blocks) });
	};
	for (const block of blocks) {
		if (block.kind !== 'heading') {
			section.blocks.push(block);
			continue;
		}
		endSection(block.level);
		level = block.level;
		headings = [
			...headings.filter((heading) => heading.level < block.level),
			{ level, text: truncateHeading(block.text) },
		];
		section = { path: headings.map((heading) => heading.text), blocks: [], words: 0, page: block.page };
	}
	endSection(0);
	return sections;
}

/** Runs of tiny sections under the same heading become one section of that heading; their own headings stay as lines. */
function joinTiny(sections: Section[]): Section[] {
	const joined: Section[] = [];
	let run: Section[] = [];
	let words = 0;
	const endRun = () => {
		const [first] = run;
		if (first !== undefined) joined.push(run.length === 1 ? first : join(run, words));
		run = [];
		words = 0;
	};
	for (const section of sections) {
		const fits =
			run.length === 0 || (sameParent(run[0] as Section, section) && words + section.words <= MAX_JOINED_WORDS);
		if (section.words >= MIN_SECTION_WORDS || section.path.length === 0 || !fits) endRun();
		if (section.words >= MIN_SECTION_WORDS || section.path.length === 0) joined.push(section);
		else {
			run.push(section);
			words += section.words;
		}
	}
	endRun();
	return joined;
}

function join(run: Section[], words: number): Section {
	const blocks = run.flatMap(({ path, blocks }) => [paragraph(path.at(-1) ?? '', blocks[0]?.page ?? null), ...blocks]);
	return { path: (run[0]?.path ?? []).slice(0, -1), blocks, words };
}

function sameParent(a: Section, b: Section): boolean {
	return a.path.length === b.path.length && a.path.slice(0, -1).every((heading, index) => heading === b.path[index]);
}

/** Counting stops when the section is certainly not tiny. */
function wordsOf(blocks: BodyBlock[]): number {
	let words = 0;
	for (const { text } of blocks) {
		if (words >= MIN_SECTION_WORDS) break;
		words += text.length > NOT_TINY_CHARACTERS ? MIN_SECTION_WORDS : countWords(text);
	}
	return words;
}

function paragraph(text: string, page: number | null): BodyBlock {
	return { kind: 'paragraph', text, page };
}

function truncateHeading(text: string): string {
	const line = text.replace(/\s+/gu, ' ').trim();
	return line.length <= MAX_HEADING_CHARACTERS ? line : `${line.slice(0, MAX_HEADING_CHARACTERS - 1).trimEnd()}…`;
}
