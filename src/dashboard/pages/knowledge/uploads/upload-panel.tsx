import { ApiError } from '../../../api/api-error.ts';
import { linkTo } from '../../../app/route.ts';
import { Icon } from '../../../components/icon.tsx';
import { sentenceOf } from '../../../components/page.tsx';
import { count, fill, strings } from '../../../languages/index.ts';
import { DocumentStatus } from '../documents/document-status.tsx';
import { adviceOf } from '../documents/error-sentence.ts';
import type { UploadItem, UploadQueue } from './upload-queue.ts';
import { isBeingIndexed, type UploadState } from './upload-state.ts';
import { UploadSummary } from './upload-summary.tsx';

/** Files that are shown at once: those that need attention first. */
const MAX_SHOWN = 60;

/** The files that this tab adds, with the progress of each: uploaded, read, indexed. */
export function UploadPanel({ baseId, queue }: { baseId: string; queue: UploadQueue }) {
	const t = strings().knowledgePages;
	// Rendered again with each change of a file.
	void queue.changes.value;
	const items = queue.items.value;
	if (items.length === 0) return null;
	const shown = items.toSorted((a, b) => rankOf(a.state.value) - rankOf(b.state.value)).slice(0, MAX_SHOWN);
	return (
		<section class="card uploads" aria-label={t.uploads}>
			<UploadSummary queue={queue} items={items} />
			<ul>
				{shown.map((item) => (
					<UploadRow key={item.id} baseId={baseId} queue={queue} item={item} />
				))}
			</ul>
			{items.length > shown.length && <p class="hint">{count(t.moreUploads, items.length - shown.length)}</p>}
		</section>
	);
}

function UploadRow({ baseId, queue, item }: { baseId: string; queue: UploadQueue; item: UploadItem }) {
	const t = strings().knowledgePages;
	const { path } = item;
	const state = item.state.value;
	const { step } = state;
	const isAdded = step === 'added';
	return (
		<li>
			<span class="upload-name">
				{isAdded ? <a href={linkTo(['knowledge', baseId, 'documents', state.document.id])}>{path}</a> : path}
				<Problem state={state} />
			</span>
			<UploadProgress state={state} name={path} />
			{step === 'refused' && (
				<IconAction icon="retry" label={fill(t.retryUpload, { name: path })} onClick={() => queue.retry(item)} />
			)}
			{!isAdded && (
				<IconAction icon="close" label={fill(t.removeUpload, { name: path })} onClick={() => queue.remove(item)} />
			)}
		</li>
	);
}

function UploadProgress({ state, name }: { state: UploadState; name: string }) {
	const t = strings().knowledgePages;
	switch (state.step) {
		case 'waiting':
			return <span class="soft">{t.waiting}</span>;
		case 'sending': {
			const percent = Math.round(100 * state.share);
			return (
				<span class="upload-progress">
					<progress max={100} value={percent} aria-label={name} />
					<span class="soft">{fill(t.sending, { percent })}</span>
				</span>
			);
		}
		case 'added':
			return <DocumentStatus document={state.document} />;
		default:
			return null;
	}
}

/** Why a file is not there, and what to do. */
function Problem({ state }: { state: UploadState }) {
	const t = strings().knowledgePages;
	if (state.step === 'broken') return <span class="hint">{t.broken}</span>;
	if (state.step === 'added' && state.document.error) {
		return (
			<span class={isBeingIndexed(state.document) ? 'hint' : 'field-error'}>{adviceOf(state.document.error)}</span>
		);
	}
	if (state.step !== 'refused') return null;
	const { error } = state;
	return <span class="field-error">{error instanceof ApiError ? adviceOf(error) : sentenceOf(error)}</span>;
}

function IconAction({ icon, label, onClick }: { icon: 'retry' | 'close'; label: string; onClick: () => void }) {
	return (
		<button type="button" class="icon-button" aria-label={label} title={label} onClick={onClick}>
			<Icon name={icon} />
		</button>
	);
}

/** Refused files first, then what happens now, then what waits, then what is done. */
function rankOf(state: UploadState): number {
	switch (state.step) {
		case 'refused':
			return 0;
		case 'sending':
		case 'broken':
			return 1;
		case 'added':
			if (state.document.status === 'error') return 0;
			return isBeingIndexed(state.document) ? 2 : 4;
		case 'waiting':
			return 3;
	}
}
