import type { KnowledgeBase, SearchSettingsPatch } from '../contract/index.ts';
import type { KnowledgeBaseRecord } from '../store/index.ts';

/** The weight of the semantic half before a knowledge base has chosen one, and with vectors of a provider. */
const DEFAULT_SEMANTIC_WEIGHT = 0.5;

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
 * The stored settings that a request changes. The read-only source is left out. The automatic weight that a client sends back
 * as it read it stays automatic.
 */
export function searchSettingsChange(
	record: Pick<KnowledgeBaseRecord, 'search_settings' | 'tuned_weight'>,
	{ semantic_weight_source, ...change }: SearchSettingsPatch,
): Partial<KnowledgeBaseRecord['search_settings']> {
	const current = searchSettingsOf(record);
	const isSentBack =
		semantic_weight_source === 'auto' &&
		current.semantic_weight_source === 'auto' &&
		change.semantic_weight === current.semantic_weight;
	return isSentBack ? { ...change, semantic_weight: null } : change;
}
