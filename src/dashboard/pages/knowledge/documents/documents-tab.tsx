import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { changeQuery, route } from '../../../app/route.ts';
import { Button } from '../../../components/button.tsx';
import { SelectField, TextField } from '../../../components/field.tsx';
import { EmptyState, ErrorState, LoadingLines } from '../../../components/page.tsx';
import { strings } from '../../../languages/index.ts';
import { mayWrite } from '../may-write.ts';
import type { Document } from '../queries.ts';
import { DropZone } from '../uploads/drop-zone.tsx';
import { queueOf } from '../uploads/queues.ts';
import { UploadPanel } from '../uploads/upload-panel.tsx';
import { AddDocument } from './add-document.tsx';
import { DocumentList } from './document-list.ts';
import { DocumentTable } from './document-table.tsx';
import { useLiveDocuments } from './use-live-documents.ts';

/** How long a person pauses while typing before the list is searched (ms). */
const TYPING_PAUSE_MS = 250;

const STATUSES: readonly Document['status'][] = ['indexed', 'processing', 'queued', 'error'];

/** The documents of a knowledge base: adding, finding, and what has become of each. */
export function DocumentsTab({ baseId }: { baseId: string }) {
	const { query } = route.value;
	const status = STATUSES.find((each) => each === query.get('status'));
	const name = query.get('name') ?? undefined;
	const order = query.get('order') === 'asc' ? 'asc' : 'desc';
	const queue = queueOf(baseId);
	const list = useMemo(() => new DocumentList(baseId, { status, name, order }), [baseId, status, name, order]);
	useEffect(() => {
		void list.loadMore();
		return () => list.leave();
	}, [list]);
	useLiveDocuments(baseId, list, queue);
	return (
		<>
			{mayWrite() && (
				<>
					<AddDocument baseId={baseId} onAdded={(document) => list.update(document)} />
					<DropZone queue={queue} />
				</>
			)}
			<UploadPanel baseId={baseId} queue={queue} />
			<Filters />
			<ListContent baseId={baseId} list={list} isFiltered={status !== undefined || name !== undefined} />
		</>
	);
}

/** Which documents are listed. The choice is in the address. */
function Filters() {
	const t = strings().knowledgePages;
	const { query } = route.value;
	const [name, setName] = useState(query.get('name') ?? '');
	const timer = useRef(0);
	useEffect(() => () => clearTimeout(timer.current), []);
	const statuses = STATUSES.map((value) => ({ value, label: t[value] }));
	return (
		<search class="filter-fields">
			<TextField
				type="search"
				label={t.filterName}
				maxLength={200}
				value={name}
				onChange={(text) => {
					setName(text);
					clearTimeout(timer.current);
					timer.current = setTimeout(() => changeQuery({ name: text.trim() || undefined }), TYPING_PAUSE_MS);
				}}
			/>
			<SelectField
				label={t.filterStatus}
				value={query.get('status') ?? ''}
				options={[{ value: '', label: t.allStatuses }, ...statuses]}
				onChange={(status) => changeQuery({ status })}
			/>
			<SelectField
				label={t.order}
				value={query.get('order') ?? ''}
				options={[
					{ value: '', label: t.newest },
					{ value: 'asc', label: t.oldest },
				]}
				onChange={(order) => changeQuery({ order })}
			/>
		</search>
	);
}

function ListContent({ baseId, list, isFiltered }: { baseId: string; list: DocumentList; isFiltered: boolean }) {
	const t = strings().knowledgePages;
	const { documents, next, error } = list.state.value;
	if (error && documents.length === 0) return <ErrorState error={error} onRetry={() => void list.loadMore()} />;
	if (next === undefined) return <LoadingLines count={8} />;
	if (documents.length === 0 && isFiltered) {
		return (
			<EmptyState title={t.noMatch} text={t.noMatchText}>
				<Button onClick={() => changeQuery({ name: undefined, status: undefined })}>{t.showAll}</Button>
			</EmptyState>
		);
	}
	if (documents.length === 0) return <EmptyState title={t.noDocuments} text={t.noDocumentsText} />;
	return (
		<>
			<DocumentTable
				baseId={baseId}
				documents={documents}
				isWhole={next === null}
				onNearEnd={() => {
					// After an error the person decides.
					if (!error) void list.loadMore();
				}}
			/>
			{error ? (
				<ErrorState error={error} onRetry={() => void list.loadMore()} />
			) : (
				next !== null && <p class="hint list-end">{t.loadingMore}</p>
			)}
		</>
	);
}
