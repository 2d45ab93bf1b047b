import type { PassageReading } from '../reading/passage-reading.ts';
import type { QuotablePassage } from '../request.ts';

/** A passage with its parts. */
export interface Source {
	passage: QuotablePassage;
	reading: PassageReading;
}
