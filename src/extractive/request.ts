/** One retrieved piece of a document that an answer may quote. */
export interface QuotablePassage {
	/** The source number that the answer cites, from 1. */
	index: number;
	document_id: string;
	title: string;
	/** The page on which it begins, from 1; null where the format has no pages. */
	page: number | null;
	/** The headings above it, outermost first. */
	heading_path: readonly string[];
	text: string;
	/** How well it matches the question, 0..1. */
	score: number;
}

/** What an answer is made from. */
export interface ExtractiveRequest {
	question: string;
	/** Earlier messages of the conversation, oldest first, without the question. */
	history: ReadonlyArray<{ role: 'user' | 'assistant'; content: string }>;
	/** Best first. */
	passages: readonly QuotablePassage[];
	/** How well the knowledge bases answer the question in absolute terms, 0..1. */
	confidence: number;
	/** The least probability with which an answer is given, 0..1; null or absent: the threshold of the trained weights. */
	min_confidence?: number | null;
	/** Synonyms of words of the question in its language, for those that the passages do not have. */
	synonyms?: ReadonlyArray<{ word: string; synonyms: readonly string[] }> | undefined;
	/** When the question was asked, in milliseconds, and in which IANA time zone. Without it `today` is a word like any other. */
	moment?: { asked_at: number; time_zone: string };
	/** The search failed, so an empty list of passages does not mean that the knowledge bases have no answer. */
	search_failed?: boolean;
}
