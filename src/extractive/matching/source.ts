import type { PassageReading } from '../reading/read-passage.ts';
import type { QuotablePassage } from '../request.ts';

/** A passage with its parts. */
export interface Source {
	passage: QuotablePassage;
	reading: PassageReading;
}
