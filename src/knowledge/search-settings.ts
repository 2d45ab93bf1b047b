import type { KnowledgeBase, SearchSettingsPatch } from '../contract/index.ts';
import { STRONG_SEMANTIC_WEIGHT, WEAK_SEMANTIC_WEIGHT } from '../retrieval/index.ts';
import type { KnowledgeBaseRecord } from '../store/index.ts';

/** The weight of the semantic half before a knowledge base has chosen one, and with vectors of a provider. */
const DEFAULT_SEMANTIC_WEIGHT = 0.5;

/** Every weight that a response may show with the source `auto`. */
const AUTOMATIC_WEIGHTS: ReadonlySet<unknown> = new Set([
	DEFAULT_SEMANTIC_WEIGHT,
	STRONG_SEMANTIC_WEIGHT,
	WEAK_SEMANTIC_WEIGHT,
]);

/** The search settings of a knowledge base, with the weight in use. */
export function searchSettingsOf({
	search_settings: { hybrid, semantic_weight },
	tuned_weight,
}: Pick<KnowledgeBaseRecord, 'search_settings' | 'tuned_weight'>): KnowledgeBase['search_settings'] {
	return {
		hybrid,
		semantic_weight: semantic_weight ?? tuned_weight ?? DEFAULT_SEMANTIC_WEIGHT,
		semantic_weight_source: semantic_weight === null ? 'auto' : 'set',
	};
}

/**
 * The stored settings that a request changes. The read-only source is left out. An automatic weight that a client sends back
 * with its source stays automatic, also if a training has chosen another one since the client read it.
 */
export function searchSettingsChange({
	semantic_weight_source,
	...change
}: SearchSettingsPatch): Partial<KnowledgeBaseRecord['search_settings']> {
	const isSentBack = semantic_weight_source === 'auto' && AUTOMATIC_WEIGHTS.has(change.semantic_weight);
	return isSentBack ? { ...change, semantic_weight: null } : change;
}
