import { Status } from '../../../components/status.tsx';
import { fill, strings } from '../../../languages/index.ts';
import { adviceOf } from '../documents/error-sentence.ts';
import type { Source } from './queries.ts';

/** What a followed website is doing, as a word; why its last run ended early. */
export function SourceStatus({ source: { status, error } }: { source: Source }) {
	const t = strings().knowledgePages;
	switch (status) {
		case 'queued':
			return <Status tone="grey">{t.sourceQueued}</Status>;
		case 'running':
			return <Status tone="amber">{t.sourceRunning}</Status>;
		case 'idle':
			return <Status tone="green">{t.sourceIdle}</Status>;
		case 'paused':
			return <Status tone="grey">{t.sourcePaused}</Status>;
		case 'deleting':
			return <Status tone="grey">{t.sourceDeleting}</Status>;
		case 'error':
			return (
				<>
					<Status tone="red">{t.error}</Status>
					{error && <p class="field-error">{adviceOf(error)}</p>}
				</>
			);
	}
}

/** How far the run is. */
export function progressText({ progress: { found, fetched, indexed } }: Source): string {
	return fill(strings().knowledgePages.sourceProgress, { found, fetched, indexed });
}
