import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contextDependence } from '../../src/retrieval/dialogue/context-dependence.ts';
import { type Dialogue, dialogueContext, dialogueQuery, textInContext } from '../../src/retrieval/index.ts';

const EARLIER = [
	{ role: 'user', content: 'How long does the Lumen kettle heat?' },
	{ role: 'assistant', content: 'The Lumen kettle heats one litre in four minutes.' },
] as const;

test('a message that names its subject stands alone', () => {
	for (const messages of [
		['How long is the warranty of the kettle?', 'Which documents are required for an application from abroad?'],
		['How long does the battery of the large kettle last when it is cold?'],
		['Wie lange gilt die Garantie für den Wasserkocher?', 'Liefern Sie Pakete auch nach Österreich und Belgien?'],
		['Quelle est la durée de la garantie de la bouilloire ?'],
		['Hoe lang is de garantie op de waterkoker?'],
	] as const) {
		for (const message of messages) assert.equal(contextDependence(message, ''), 0, message);
	}
});

test('pronouns, comparisons and openings make a message depend on its context in each language of the widget', () => {
	for (const messages of [
		['How much does it cost?', 'And for the large kettle?', 'What about Saturday?', 'Who can repair that?'],
		['Which other colours do you sell?'],
		['Wie lange hält er?', 'Und für den großen Wasserkocher?', 'Was kostet das?', 'Wer haftet dafür?'],
		['Combien coûte-t-elle ?', 'Et pour la grande bouilloire ?'],
		['¿Cuánto cuesta eso?', '¿Y los sábados?'],
		['Quanto custa isso?', 'E aos sábados?'],
		['Wat kost dat?', 'En op zaterdag?'],
		['それはいくらですか'],
		['كم سعر هذا'],
	] as const) {
		for (const message of messages) assert.ok(contextDependence(message, '') >= 0.4, message);
	}
});

test('a message without content words depends on its context alone', () => {
	assert.equal(contextDependence('Why?', ''), 1);
	assert.equal(contextDependence('Warum?', ''), 1);
});

test('a short message depends on its context a little', () => {
	const dependence = contextDependence('Opening hours', '');
	assert.ok(dependence > 0 && dependence < 0.3);
});

test('the question before decides the language of a message that two languages fit', () => {
	const message = 'Fahrräder parken dort';
	assert.ok(contextDependence(message, 'Wo ist der Laden in der Stadt?') >= 0.4);
});

test('an Arabic word that begins like `and` does not refer to the message before it', () => {
	const previous = 'ما هو سعر هذا المنتج؟';
	for (const message of [
		'وقت تسليم الطلبات الكبيرة المجمدة',
		'واتساب خدمة العملاء المتاحة مساء',
		'أوروبا شحن الطلبات الكبيرة مساء',
	]) {
		assert.equal(contextDependence(message, previous), 0, message);
	}
	for (const message of [
		'وكم سعر البطارية الكبيرة الجديدة؟',
		'والبطارية الكبيرة الجديدة المجمدة؟',
		'و بالنسبة للبطارية الكبيرة؟',
	]) {
		assert.ok(contextDependence(message, previous) >= 0.4, message);
	}
});

const queryOf = (dialogue: Dialogue, languages: string[]) =>
	dialogueQuery(dialogue.message, dialogueContext(dialogue), languages);

test('the context of a message has the question before and the beginning of its reply', () => {
	const { words, context } = queryOf({ message: 'How much does it cost?', earlier: EARLIER }, ['en']);
	assert.ok(context);
	const stems = new Set(context.words.flatMap((word) => word.stems));
	for (const stem of ['cost', 'lumen', 'kettl', 'litr']) assert.ok(stems.has(stem), stem);
	assert.ok(context.words.length > context.asked.length && context.asked.length > words.length);
	assert.ok(context.weight > 0.5);
});

test('a follow-up in another language than the documents has a context', () => {
	const earlier = [{ role: 'user' as const, content: 'Wie lange heizt der Wasserkocher Lumen?' }];
	const { context } = queryOf({ message: 'Und was kostet er?', earlier }, ['en']);
	assert.ok(context && context.weight > 0.5);
	assert.ok(context.asked.some(({ stems }) => stems.includes('lumen')));
});

test('a message without earlier questions has no context', () => {
	const message = 'How much does it cost?';
	assert.equal(dialogueContext({ message, earlier: [] }), null);
	assert.equal(dialogueContext({ message, earlier: EARLIER.slice(1) }), null);
	assert.equal(dialogueQuery(message, null, ['en']).context, undefined);
});

test('an embedder reads a message after the question before', () => {
	const message = 'How much does it cost?';
	const context = dialogueContext({ message, earlier: EARLIER });
	assert.ok(context);
	assert.equal(textInContext(message, context), 'How long does the Lumen kettle heat?\nHow much does it cost?');
	assert.equal(dialogueContext({ message: 'How long is the warranty of the toaster?', earlier: EARLIER }), null);
});

test('a pasted page stands alone, and of earlier messages only the beginning is read', () => {
	assert.equal(dialogueContext({ message: 'It is broken. '.repeat(100), earlier: EARLIER }), null);
	const earlier = Array.from({ length: 100 }, () => ({ role: 'user' as const, content: 'x'.repeat(9_000) }));
	const context = dialogueContext({ message: 'How much does it cost?', earlier });
	assert.ok(context && context.question.length <= 1_000);
	const replies = Array.from({ length: 100 }, () => ({ role: 'assistant' as const, content: 'Yes.' }));
	const late = { message: 'How much does it cost?', earlier: [...EARLIER, ...replies] };
	assert.equal(dialogueContext(late), null, 'the question is too long ago');
});

test('no surrogate pair of an earlier message is cut', () => {
	const earlier = [{ role: 'user' as const, content: `${'x'.repeat(999)}😀😀` }];
	const context = dialogueContext({ message: 'How much does it cost?', earlier });
	assert.equal(context?.question, 'x'.repeat(999));
});
