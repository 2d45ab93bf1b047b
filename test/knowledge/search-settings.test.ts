import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchSettingsChange } from '../../src/knowledge/index.ts';

test('an automatic weight that a client sends back with its source stays automatic, also after a training', () => {
	for (const semantic_weight of [0.5, 0.7, 0.35]) {
		const sentBack = { hybrid: true, semantic_weight, semantic_weight_source: 'auto' } as const;
		assert.deepEqual(searchSettingsChange(sentBack), { hybrid: true, semantic_weight: null });
		assert.deepEqual(searchSettingsChange({ semantic_weight }), { semantic_weight });
		assert.deepEqual(searchSettingsChange({ semantic_weight, semantic_weight_source: 'set' }), { semantic_weight });
	}
	assert.deepEqual(searchSettingsChange({ semantic_weight: 0.2, semantic_weight_source: 'auto' }), {
		semantic_weight: 0.2,
	});
	assert.deepEqual(searchSettingsChange({ semantic_weight: null }), { semantic_weight: null });
});
