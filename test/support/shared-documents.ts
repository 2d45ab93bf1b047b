import { existsSync, readFileSync } from 'node:fs';

/** A line of the manifest of the shared documents; SOURCE.md beside it explains the outcomes. */
export interface SharedDocument {
	/** Relative to `SHARED_DOCUMENTS`. */
	file: string;
	type: string;
	expect: string;
	contains?: string[];
	expected_text?: string;
	title?: string;
	boilerplate?: string[];
	headings?: Array<[level: number, text: string]>;
	pages?: number | null;
	language?: string;
}

/** The folder of real documents beside the repository. */
export const SHARED_DOCUMENTS = new URL('../../../shared/data/docs/', import.meta.url);

const manifest = new URL('manifest.jsonl', SHARED_DOCUMENTS);
const isPresent = existsSync(manifest);

/** What `test` takes as `skip`: a sentence where the documents are missing. */
export const noSharedDocuments = !isPresent && 'The shared documents (../shared/data/docs) are missing.';

/** The documents; none where they are missing. */
export const sharedDocuments: readonly SharedDocument[] = isPresent
	? readFileSync(manifest, 'utf8')
			.trim()
			.split('\n')
			.map((line) => JSON.parse(line) as SharedDocument)
	: [];
