import type { Passage } from '../../src/models/index.ts';

/** A passage; a test gives only what matters to it. */
export function passage(text: string, more: Partial<Passage> = {}): Passage {
	const given = { index: 1, document_id: 'doc_1', title: 'Guide', url: null, page: null, heading_path: [], score: 0.5 };
	return { ...given, text, ...more };
}
