import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bodyValidator, WidgetConfig } from '../../src/contract/index.ts';
import { appearanceOf } from '../../src/deployments/appearance.ts';
import { renderConfig } from '../../src/deployments/widget-config.ts';
import type { DeploymentRecord } from '../../src/store/index.ts';
import { DEFAULT_APPEARANCE } from '../support/default-appearance.ts';
import { deploymentRecord } from './records.ts';

/** Deployments that differ in few or none of the fields that the widget sees. */
const record: fc.Arbitrary<DeploymentRecord> = fc
	.record({
		name: fc.constantFrom('Shop', 'Help'),
		updated_at: fc.constantFrom(1, 2),
		version: fc.constantFrom(1, 2),
		allowed_domains: fc.constantFrom<string[]>([], ['a.example']),
		greeting: fc.oneof(fc.constantFrom('Hi', 'hi'), fc.string({ unit: 'grapheme' })),
		theme: fc.constantFrom('light' as const, 'dark' as const),
		streaming: fc.boolean(),
		messages_per_minute: fc.constantFrom(1, 10),
	})
	.map(({ greeting, theme, streaming, messages_per_minute, ...own }) => {
		const base = deploymentRecord({ id: 'dep_1', assistant_id: 'asst_1' });
		return {
			...base,
			...own,
			appearance: { ...base.appearance, greeting, theme },
			features: { ...base.features, streaming },
			rate_limit: { messages_per_minute },
		};
	});

test("the bytes are the JSON of the widget's configuration: all fields that the widget needs and no others", () => {
	const base = deploymentRecord();
	const own = { assistant_name: 'Kettle help', radius: 'large', font_family: 'serif' } as const;
	const deployment = {
		...base,
		appearance: appearanceOf({ ...base, appearance: { ...base.appearance, ...own } }),
		features: { ...base.features, ai_disclosure: false, handoff: true },
	};
	const { body } = renderConfig(deployment);
	const config: unknown = JSON.parse(body.toString('utf8'));
	assert.deepEqual(config, {
		deployment_id: deployment.id,
		assistant_id: deployment.assistant_id,
		appearance: deployment.appearance,
		features: deployment.features,
		rate_limit: deployment.rate_limit,
	});
	bodyValidator(WidgetConfig)(config);
	assert.deepEqual(Object.keys(config as object), Object.keys(WidgetConfig.properties));
});

test('serves the defaults of names, logos and the disclosure for a deployment that is older than these settings', () => {
	const deployment = deploymentRecord();
	const config = JSON.parse(renderConfig(deployment).body.toString('utf8'));
	assert.deepEqual(config.appearance, {
		...DEFAULT_APPEARANCE,
		...deployment.appearance,
	});
	assert.deepEqual(config.features, { ...deployment.features, ai_disclosure: true, handoff: false });
	bodyValidator(WidgetConfig)(config);
});

test('the ETag is strong and changes exactly when the bytes do', () => {
	fc.assert(
		fc.property(record, record, (one, other) => {
			const [first, second] = [renderConfig(one), renderConfig(other)];
			assert.match(first.etag, /^"[A-Za-z0-9_-]{22}"$/);
			assert.equal(first.etag === second.etag, first.body.equals(second.body));
		}),
		{ numRuns: 500 },
	);
});
