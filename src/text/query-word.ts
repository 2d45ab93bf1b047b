/** One word of a question. */
export interface QueryWord {
	/** Its index term in each of the given languages, without repeats. */
	stems: string[];
	/** Whether it is an interrogative or auxiliary (who, how, can, …) without content. */
	isInterrogative: boolean;
	/** Its other spellings, each as index terms: the long form of an acronym. Absent without one. */
	variants?: ReadonlyArray<readonly string[]>;
	/** Terms of words of nearly the same meaning, for a word that no document has. Absent without a thesaurus. */
	synonyms?: readonly string[];
}
