import { Button } from '../../../components/button.tsx';
import { count, fill, strings } from '../../../languages/index.ts';
import type { UploadItem, UploadQueue } from './upload-queue.ts';
import { isBeingIndexed, type UploadState } from './upload-state.ts';

/** How far all files are, and what can be done with them. */
export function UploadSummary({ queue, items }: { queue: UploadQueue; items: readonly UploadItem[] }) {
	const t = strings().knowledgePages;
	const states = items.map(({ state }) => state.value);
	const numberOf = (test: (state: UploadState) => boolean) => states.filter(test).length;
	const added = numberOf(({ step }) => step === 'added');
	const refused = numberOf(({ step }) => step === 'refused');
	const reading = numberOf((state) => state.step === 'added' && isBeingIndexed(state.document));
	const parts = [fill(t.uploadSummary, { added, total: items.length })];
	if (reading > 0) parts.push(count(t.uploadIndexing, reading));
	if (refused > 0) parts.push(count(t.uploadFailed, refused));
	const done = states.reduce((sum, state) => sum + doneShare(state), 0);
	const { isActive } = queue;
	const isPaused = queue.isPaused.value;
	return (
		<header>
			<h2>{isPaused ? t.paused : t.uploads}</h2>
			<p role="status">{parts.join(' · ')}</p>
			<progress max={items.length} value={done} aria-label={t.uploads} />
			<div class="actions">
				{isActive && !isPaused && (
					<Button icon="pause" onClick={() => queue.pause()}>
						{t.pause}
					</Button>
				)}
				{isActive && isPaused && (
					<Button icon="play" look="primary" onClick={() => queue.resume()}>
						{t.resume}
					</Button>
				)}
				{isActive && <Button onClick={() => queue.cancelAll()}>{t.cancelAll}</Button>}
				{!isActive && reading === 0 && <Button onClick={() => queue.clearDone()}>{t.clearDone}</Button>}
			</div>
		</header>
	);
}

/** Uploading counts for half of a file, reading and indexing for the other half. */
function doneShare(state: UploadState): number {
	if (state.step === 'sending') return state.share / 2;
	if (state.step === 'added') return isBeingIndexed(state.document) ? 0.5 : 1;
	return state.step === 'refused' ? 1 : 0;
}
