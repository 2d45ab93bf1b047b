export { ChangeNotices } from './change-notices.ts';
export type { NewDocument } from './document-changes.ts';
export { Documents, presentDocument } from './documents.ts';
export { findDocuments } from './find-documents.ts';
export { dependsOnEarlier, Knowledge, type KnowledgeDependencies, type SearchOptions } from './knowledge.ts';
export { searchSettingsChange, searchSettingsOf } from './search-settings.ts';
export { presentSource, presentSourcePage, Sources } from './sources/sources.ts';
export { presentKnowledgeBase, presentStatus, readStatus } from './status.ts';
