import type { AnyFuzzTarget } from '../target.ts';
import { httpFraming } from './http-framing.ts';
import { jsonBodies } from './json-bodies.ts';
import { cursors, searchQueries } from './lists-and-searches.ts';
import { markdown } from './markdown.ts';
import { markdownBrowser } from './markdown-browser.ts';
import { multipart } from './multipart.ts';
import { madeDocuments, parsers } from './parsers.ts';
import { providerStreams } from './provider-streams.ts';

/** All targets, by their names on the command line. */
export const TARGETS: readonly AnyFuzzTarget[] = [
	parsers,
	madeDocuments,
	httpFraming,
	multipart,
	jsonBodies,
	cursors,
	searchQueries,
	markdown,
	markdownBrowser,
	providerStreams,
];
