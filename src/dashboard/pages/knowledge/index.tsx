import { BaseList } from './base-list.tsx';
import { BasePage } from './base-page.tsx';
import { DocumentPage } from './document/document-page.tsx';
import { SourcePage } from './websites/source-page.tsx';

export default function Knowledge({ path }: { path: readonly string[] }) {
	const [baseId, part, id] = path;
	if (baseId === undefined) return <BaseList />;
	if (part === 'documents' && id !== undefined) return <DocumentPage key={id} baseId={baseId} id={id} />;
	if (part === 'websites' && id !== undefined) return <SourcePage key={id} baseId={baseId} id={id} />;
	return <BasePage key={baseId} id={baseId} />;
}
