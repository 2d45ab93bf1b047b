import { Status } from '../../../components/status.tsx';
import { strings } from '../../../languages/index.ts';
import type { Document } from '../queries.ts';

/** What has become of a document, as a word. */
export function DocumentStatus({ document: { status, error } }: { document: Pick<Document, 'status' | 'error'> }) {
	const t = strings().knowledgePages;
	switch (status) {
		case 'queued':
			return <Status tone="grey">{t.queued}</Status>;
		case 'processing':
			return <Status tone="amber">{t.processing}</Status>;
		case 'error':
			return <Status tone="red">{t.error}</Status>;
		case 'indexed':
			return error ? <Status tone="amber">{t.partly}</Status> : <Status tone="green">{t.indexed}</Status>;
	}
}
