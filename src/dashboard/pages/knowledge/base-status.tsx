import { Status } from '../../components/status.tsx';
import { count, strings } from '../../languages/index.ts';
import type { KnowledgeBase } from './queries.ts';

/** The state of a knowledge base as a word, with the number of failed documents. */
export function BaseStatus({
	base: { status, document_count, documents_failed },
}: {
	base: Pick<KnowledgeBase, 'status' | 'document_count' | 'documents_failed'>;
}) {
	const t = strings().knowledgePages;
	if (status === 'indexing') return <Status tone="amber">{t.indexing}</Status>;
	if (documents_failed > 0) return <Status tone="red">{count(t.failed, documents_failed)}</Status>;
	return document_count === 0 ? <Status tone="grey">{t.empty}</Status> : <Status tone="green">{t.ready}</Status>;
}
