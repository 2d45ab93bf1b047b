import assert from 'node:assert/strict';
import { test } from 'node:test';
import { personRequestIn } from '../../src/extractive/index.ts';
import { strings as ar } from '../../src/widget/languages/ar.ts';
import { strings as de } from '../../src/widget/languages/de.ts';
import { strings as en } from '../../src/widget/languages/en.ts';
import { strings as es } from '../../src/widget/languages/es.ts';
import { strings as fr } from '../../src/widget/languages/fr.ts';
import { strings as ja } from '../../src/widget/languages/ja.ts';
import { strings as nl } from '../../src/widget/languages/nl.ts';
import { strings as pt } from '../../src/widget/languages/pt.ts';

test('the server recognises the text of the button "Talk to a person" in every language', () => {
	for (const [language, { talk }] of Object.entries({ ar, de, en, es, fr, ja, nl, pt })) {
		assert.deepEqual(personRequestIn(talk), { language, isOnlyRequest: true }, talk);
	}
});
