import type { KnowledgeBase } from '../contract/index.ts';
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
