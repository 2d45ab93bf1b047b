import { useEffect, useRef } from 'preact/hooks';
import { changeQuery } from '../../../app/route.ts';
import { Status } from '../../../components/status.tsx';
import { count, fill, strings } from '../../../languages/index.ts';
import type { Chunk, Passage } from './chunks.ts';

interface PassagesProps {
	passages: readonly Passage[];
	/** The position of the passage that is marked; null: none. */
	marked: number | null;
	isWhole: boolean;
}

/** The passages at the left, and the text of the document at the right. The marked passage is marked and shown in both. */
export function Passages({ passages, marked, isWhole }: PassagesProps) {
	const t = strings().knowledgePages;
	return (
		<div class="columns document-columns">
			<PassageList passages={passages} marked={marked} isWhole={isWhole} />
			<div>
				<h2>{t.wholeText}</h2>
				<p class="hint">{t.wholeTextHint}</p>
				<WholeText passages={passages} marked={marked} />
			</div>
		</div>
	);
}

function PassageList({ passages, marked }: PassagesProps) {
	const t = strings().knowledgePages;
	const list = useMarkedInView(marked, passages.length);
	return (
		<div>
			<h2>{t.passageList}</h2>
			<p class="hint">{count(t.passageCount, passages.length)}</p>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
			<ol class="passage-list" ref={list} tabIndex={0} aria-label={t.passageList}>
				{passages.map((passage) => (
					<PassageItem key={passage.chunk.id} passage={passage} isMarked={passage.chunk.position === marked} />
				))}
			</ol>
		</div>
	);
}

function PassageItem({ passage: { chunk, words }, isMarked }: { passage: Passage; isMarked: boolean }) {
	const t = strings().knowledgePages;
	const name = fill(t.passageNumber, { n: chunk.position + 1 });
	return (
		<li class={isMarked ? 'passage marked' : 'passage'} data-marked={isMarked || undefined}>
			<p class="passage-head">
				<button
					type="button"
					class="passage-button"
					aria-pressed={isMarked}
					onClick={() => changeQuery({ chunk: isMarked ? undefined : String(chunk.position) })}
				>
					{name}
				</button>
				<PassagePlace chunk={chunk} />
				<span>{count(t.words, words)}</span>
				{isMarked && <Status tone="amber">{t.marked}</Status>}
			</p>
			<p class="passage-text">{chunk.text}</p>
		</li>
	);
}

/** The page and the headings of a passage. */
export function PassagePlace({ chunk: { page, heading_path } }: { chunk: Pick<Chunk, 'page' | 'heading_path'> }) {
	const t = strings().knowledgePages;
	return (
		<>
			{page !== null && <span>{fill(t.pageNumber, { n: page })}</span>}
			{heading_path.length > 0 && <span>{heading_path.join(' › ')}</span>}
		</>
	);
}

/** The passages one after the other, each without what it repeats, under the headings of the document. */
function WholeText({ passages, marked }: Pick<PassagesProps, 'passages' | 'marked'>) {
	const t = strings().knowledgePages;
	const text = useMarkedInView(marked, passages.length);
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
		<section class="whole-text" ref={text} tabIndex={0} aria-label={t.wholeText}>
			{passages.map(({ chunk, ownText }, at) => {
				const before = passages[at - 1]?.chunk;
				const isMarked = chunk.position === marked;
				return (
					<div key={chunk.id} class={isMarked ? 'text-part marked' : 'text-part'} data-marked={isMarked || undefined}>
						{chunk.page !== null && chunk.page !== before?.page && (
							<p class="text-page">{fill(t.pageNumber, { n: chunk.page })}</p>
						)}
						{newHeadings(chunk, before).map((heading) => (
							<p key={heading} class="text-heading">
								{heading}
							</p>
						))}
						<p class="passage-text">{ownText}</p>
					</div>
				);
			})}
		</section>
	);
}

/** The headings that a passage is the first under. */
function newHeadings({ heading_path }: Chunk, before: Chunk | undefined): string[] {
	const differing = heading_path.findIndex((heading, at) => heading !== before?.heading_path[at]);
	return differing < 0 ? [] : heading_path.slice(differing);
}

/** Frames in which the place of the marked passage may still change: those around it are measured when they come into view. */
const SETTLING_FRAMES = 10;

/** Scrolls the marked child of a scrolling area into its view, once it is there. */
function useMarkedInView(marked: number | null, count: number) {
	const area = useRef<never>(null);
	const shown = useRef<number | null>(null);
	useEffect(() => {
		const frame = area.current as HTMLElement | null;
		const child = frame?.querySelector<HTMLElement>('[data-marked]');
		if (shown.current === marked || !frame || !child) return;
		let frames = 0;
		const settle = () => {
			frame.scrollTop += child.getBoundingClientRect().top - frame.getBoundingClientRect().top - 12;
			if (++frames < SETTLING_FRAMES) request = requestAnimationFrame(settle);
			// Before that, passages that arrive begin it again.
			else shown.current = marked;
		};
		let request = requestAnimationFrame(settle);
		return () => cancelAnimationFrame(request);
	}, [marked, count]);
	return area;
}
