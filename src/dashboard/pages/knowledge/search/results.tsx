import { useEffect, useRef } from 'preact/hooks';
import { linkTo } from '../../../app/route.ts';
import { EmptyState } from '../../../components/page.tsx';
import { Status } from '../../../components/status.tsx';
import { count, locale, strings } from '../../../languages/index.ts';
import { PassagePlace } from '../document/passages.tsx';
import type { Hit, SearchState } from './search-run.ts';

/** How many passages were found, and how many of them a reply gets; empty before the first search. */
export function summaryOf({ hits, inReply }: SearchState): string {
	const t = strings().knowledgePages;
	if (hits === null) return '';
	return `${count(t.results, hits.length)}. ${count(t.resultsInReply, inReply.size)}.`;
}

/** The passages of a search, with their scores. Those that a reply gets are marked. */
export function Results({
	baseId,
	state: { hits, inReply },
	minScore,
}: {
	baseId: string;
	state: SearchState;
	minScore: number;
}) {
	const t = strings().knowledgePages;
	if (hits === null) return <EmptyState title={t.searchEmptyTitle} text={t.searchEmptyText} />;
	if (hits.length === 0) return <EmptyState title={t.noResults} text={t.noResultsText} />;
	return (
		<section aria-label={t.search}>
			<p class="hint">{t.scoresHint}</p>
			<ol class="results">
				{hits.map((hit) => (
					<HitView
						key={hit.chunk_id}
						baseId={baseId}
						hit={hit}
						isInReply={inReply.has(hit.chunk_id)}
						isBelow={hit.score < minScore}
					/>
				))}
			</ol>
		</section>
	);
}

function HitView({
	baseId,
	hit,
	isInReply,
	isBelow,
}: {
	baseId: string;
	hit: Hit;
	isInReply: boolean;
	isBelow: boolean;
}) {
	const t = strings().knowledgePages;
	const chunk = hit.chunk_id.slice(hit.chunk_id.lastIndexOf('.') + 1);
	return (
		<li class={isInReply ? 'card hit hit-in-reply' : 'card hit'}>
			<div class="hit-head">
				<h2>
					<a href={linkTo(['knowledge', baseId, 'documents', hit.document_id], { chunk })}>{hit.title}</a>
				</h2>
				{isInReply ? (
					<Status tone="green">{t.inReply}</Status>
				) : (
					<Status tone="grey">{isBelow ? t.belowMinScore : t.notInReply}</Status>
				)}
			</div>
			<p class="passage-head">
				<PassagePlace chunk={hit} />
			</p>
			<dl class="scores">
				<Score label={t.score} value={hit.score} isMain />
				<Score label={t.keywordScore} value={hit.keyword_score} />
				<Score label={t.semanticScore} value={hit.semantic_score} />
			</dl>
			<p class="passage-text">{hit.text}</p>
		</li>
	);
}

/** A score as a bar with its number. */
function Score({ label, value, isMain = false }: { label: string; value: number; isMain?: boolean }) {
	const bar = useRef<HTMLSpanElement>(null);
	useEffect(() => bar.current?.style.setProperty('width', `${100 * value}%`), [value]);
	const text = value.toLocaleString(locale.value, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
	return (
		<div class={isMain ? 'score score-main' : 'score'}>
			<dt>{label}</dt>
			<dd>
				<span class="score-track" aria-hidden="true">
					<span class="score-bar" ref={bar} />
				</span>
				{text}
			</dd>
		</div>
	);
}
