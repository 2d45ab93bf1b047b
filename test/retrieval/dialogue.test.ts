import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaningOf } from '../../src/retrieval/dialogue/leaning.ts';
import { dialogueQuery, dialogueText, recentMessages } from '../../src/retrieval/index.ts';

const EARLIER = [
	{ role: 'user', content: 'How long does the Lumen kettle heat?' },
	{ role: 'assistant', content: 'The Lumen kettle heats one litre in four minutes.' },
] as const;

test('a message that names its subject stands alone', () => {
	for (const [language, messages] of [
		['en', ['How long is the warranty of the kettle?', 'Which documents are required for an application from abroad?']],
		['en', ['How long does the battery of the large kettle last when it is cold?']],
		[
			'de',
			['Wie lange gilt die Garantie für den Wasserkocher?', 'Liefern Sie Pakete auch nach Österreich und Belgien?'],
		],
		['fr', ['Quelle est la durée de la garantie de la bouilloire ?']],
		['nl', ['Hoe lang is de garantie op de waterkoker?']],
	] as const) {
		for (const message of messages) assert.equal(leaningOf(message, [language]), 0, message);
	}
});

test('pronouns, comparisons and openings make a message lean in each language of the widget', () => {
	for (const [language, messages] of [
		['en', ['How much does it cost?', 'And for the large kettle?', 'What about Saturday?', 'Who can repair that?']],
		['en', ['Which other colours do you sell?']],
		['de', ['Wie lange hält er?', 'Und für den großen Wasserkocher?', 'Was kostet das?', 'Wer haftet dafür?']],
		['fr', ['Combien coûte-t-elle ?', 'Et pour la grande bouilloire ?']],
		['es', ['¿Cuánto cuesta eso?', '¿Y los sábados?']],
		['pt', ['Quanto custa isso?', 'E aos sábados?']],
		['nl', ['Wat kost dat?', 'En op zaterdag?']],
		['ja', ['それはいくらですか']],
		['ar', ['كم سعر هذا']],
	] as const) {
		for (const message of messages) assert.ok(leaningOf(message, [language]) >= 0.4, message);
	}
});

test('a message without content words depends on its context alone', () => {
	assert.equal(leaningOf('Why?', ['en']), 1);
	assert.equal(leaningOf('Warum?', ['de']), 1);
});

test('a short message leans a little', () => {
	const leaning = leaningOf('Opening hours', ['en']);
	assert.ok(leaning > 0 && leaning < 0.3);
});

test('the context of a leaning message has the question before and the beginning of its reply', () => {
	const { words, context } = dialogueQuery({ message: 'How much does it cost?', earlier: EARLIER }, ['en']);
	assert.ok(context);
	const stems = new Set(context.words.flatMap((word) => word.stems));
	for (const stem of ['cost', 'lumen', 'kettl', 'litr']) assert.ok(stems.has(stem), stem);
	assert.ok(context.words.length > context.asked.length && context.asked.length > words.length);
	assert.ok(context.weight > 0.5);
});

test('a message without earlier questions has no context', () => {
	const message = 'How much does it cost?';
	assert.equal(dialogueQuery({ message, earlier: [] }, ['en']).context, undefined);
	assert.equal(dialogueQuery({ message, earlier: EARLIER.slice(1) }, ['en']).context, undefined);
	assert.equal(dialogueText({ message, earlier: [] }), null);
});

test('an embedder reads a leaning message after the question before', () => {
	assert.equal(
		dialogueText({ message: 'How much does it cost?', earlier: EARLIER }),
		'How long does the Lumen kettle heat?\nHow much does it cost?',
	);
	assert.equal(dialogueText({ message: 'How long is the warranty of the toaster?', earlier: EARLIER }), null);
});

test('a pasted page stands alone, and of a long conversation only the end is read', () => {
	const message = 'It is broken. '.repeat(100);
	assert.equal(dialogueQuery({ message, earlier: EARLIER }, ['en']).context, undefined);
	const recent = recentMessages(
		Array.from({ length: 100 }, () => ({ role: 'user' as const, content: 'x'.repeat(9_000) })),
	);
	assert.ok(recent.length <= 10 && recent.every(({ content }) => content.length <= 1_000));
});
