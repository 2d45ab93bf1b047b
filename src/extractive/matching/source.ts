import type { PassageReading } from '../reading/passage-reading.ts';
import type { QuotablePassage } from '../request.ts';

/** A passage with its parts. */
export interface Source {
	passage: QuotablePassage;
	reading: PassageReading;
}

/** The headings above a passage, nearest first, then its title. */
export function namesAbove({ passage: { heading_path, title } }: Source): string[] {
	return [...heading_path].reverse().concat(title);
}
