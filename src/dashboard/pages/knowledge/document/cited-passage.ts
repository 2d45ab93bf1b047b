interface LoadedPassages {
	passages: readonly { chunk: { position: number; text: string } }[];
	/** Whether all are loaded. */
	isWhole: boolean;
}

interface MarkedPassage {
	/** The position of the passage to mark; null: none. */
	position: number | null;
	/** The document no longer has the text that was cited. */
	isCitedTextGone: boolean;
}

/**
 * The passage that a link names. A citation that was opened here decides by its text: after the document was indexed again the
 * position may be that of another passage.
 * @param position the one of the link
 */
export function markedPassage(
	{ passages, isWhole }: LoadedPassages,
	documentId: string,
	position: number | null,
	cited: { chunk_id: string | null; text: string } | null,
): MarkedPassage {
	if (position === null || cited?.chunk_id !== `${documentId}.${position}`) return { position, isCitedTextGone: false };
	const hasText = ({ chunk }: LoadedPassages['passages'][number]) => chunk.text === cited.text;
	const passage = passages.find((each) => each.chunk.position === position && hasText(each)) ?? passages.find(hasText);
	return { position: passage?.chunk.position ?? null, isCitedTextGone: isWhole && !passage };
}
