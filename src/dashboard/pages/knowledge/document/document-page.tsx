import { useEffect, useState } from 'preact/hooks';
import { useQuery } from '../../../api/queries.ts';
import { linkTo, route } from '../../../app/route.ts';
import { openedCitation } from '../../../components/opened-citation.ts';
import { EmptyState, ErrorState, LoadingLines, PageHeader } from '../../../components/page.tsx';
import { QueryContent } from '../../../components/query-content.tsx';
import { RelativeTime } from '../../../components/time.tsx';
import { count, language, locale, strings } from '../../../languages/index.ts';
import { DocumentStatus } from '../documents/document-status.tsx';
import { adviceOf } from '../documents/error-sentence.ts';
import { type Document, documentById, knowledgeBaseById } from '../queries.ts';
import { isBeingIndexed } from '../uploads/upload-state.ts';
import { PassageLoader } from './chunks.ts';
import { markedPassage } from './cited-passage.ts';
import { DocumentActions } from './document-actions.tsx';
import { Passages } from './passages.tsx';
import { useLiveDocument } from './use-live-document.ts';

/** One document: its passages as the search reads them, beside its text. */
export function DocumentPage({ baseId, id }: { baseId: string; id: string }) {
	const query = useQuery(documentById(baseId, id));
	useLiveDocument(baseId, id);
	return <QueryContent query={query}>{(document) => <Content baseId={baseId} document={document} />}</QueryContent>;
}

function Content({ baseId, document }: { baseId: string; document: Document }) {
	const s = strings();
	const base = useQuery(knowledgeBaseById(baseId));
	const [loader] = useState(() => new PassageLoader(baseId, document.id));
	useEffect(() => {
		void loader.load();
		return () => loader.leave();
		// Another text has been indexed.
	}, [document.indexed_at]);
	const back = { label: base.data?.value.name ?? s.knowledge, href: linkTo(['knowledge', baseId]) };
	return (
		<>
			<PageHeader title={document.title} back={back}>
				<DocumentActions baseId={baseId} document={document} />
			</PageHeader>
			<Facts document={document} />
			<PassageContent document={document} loader={loader} />
		</>
	);
}

/** What the document is, and what is wrong with it. */
function Facts({ document }: { document: Document }) {
	const t = strings().knowledgePages;
	const { file_name, url, size_bytes, page_count, chunk_count, error, source_id, created_at } = document;
	return (
		<>
			<p class="base-facts">
				<DocumentStatus document={document} />
				{file_name && <span>{file_name}</span>}
				{url && (
					<a href={url} target="_blank" rel="noreferrer">
						{url}
					</a>
				)}
				{size_bytes !== null && <span>{sizeText(size_bytes)}</span>}
				{page_count !== null && <span>{count(t.pages, page_count)}</span>}
				<span>{count(t.passageCount, chunk_count)}</span>
				{document.language && (
					<span>{new Intl.DisplayNames(language.value, { type: 'language' }).of(document.language)}</span>
				)}
				{source_id && <span>{t.ofWebsite}</span>}
				<span>
					{t.addedAt} <RelativeTime at={created_at} />
				</span>
			</p>
			{error && (
				<div class={document.status === 'error' ? 'error-state' : 'notice'} role="status">
					<p>{adviceOf(error)}</p>
					<p class="hint">
						{t.serverSays}: <span lang="en">{error.message}</span>
					</p>
				</div>
			)}
		</>
	);
}

function PassageContent({ document, loader }: { document: Document; loader: PassageLoader }) {
	const t = strings().knowledgePages;
	const { passages, isWhole, error } = loader.state.value;
	if (error && passages.length === 0) return <ErrorState error={error} onRetry={() => void loader.load()} />;
	if (passages.length === 0 && !isWhole) return <LoadingLines count={10} />;
	if (passages.length === 0) {
		return (
			<EmptyState title={t.noPassages} text={isBeingIndexed(document) ? t.noPassagesPending : t.noPassagesFailed} />
		);
	}
	const chunk = route.value.query.get('chunk');
	const linked = chunk === null ? null : Number(chunk);
	const marked = markedPassage(loader.state.value, document.id, linked, openedCitation.value);
	return (
		<>
			{marked.isCitedTextGone && (
				<p class="notice" role="status">
					{t.citedTextGone}
				</p>
			)}
			<Passages passages={passages} marked={marked.position} isWhole={isWhole} />
			{error && <ErrorState error={error} onRetry={() => void loader.load()} />}
			{!isWhole && !error && <LoadingLines count={2} />}
		</>
	);
}

/** @param bytes for example 52_000: `52 kB` */
function sizeText(bytes: number): string {
	const [value, unit] = bytes < 1_000_000 ? [bytes / 1_000, 'kilobyte'] : [bytes / 1_000_000, 'megabyte'];
	const format = { style: 'unit', unit, maximumFractionDigits: value < 10 ? 1 : 0 } as const;
	return new Intl.NumberFormat(locale.value, format).format(value);
}
